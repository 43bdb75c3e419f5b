/* rental_bill.h - what machines cost that start= acquired
 *
 * A machine is billed from start= to the end of stop=, also while no
 * coordinator ran.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_RENTAL_RENTAL_BILL_H
#define FA_COORDINATOR_RENTAL_RENTAL_BILL_H

struct err;
struct store;

/* Correct the ledger of a database by its acquisitions, and commit.  ERR_STORE
 */
int rental_bill(struct store *store, struct err *err);

#endif
