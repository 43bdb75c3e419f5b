/* views.h - the tables of a sweep for pandas and other readers of SQL
 *
 * The views have stable names and columns (docs/exchange.md), whatever the
 * format of the database, and one column for each tunable.  They show the
 * current sweep only, with its current sources and its current way of
 * measuring.
 */
#ifndef FA_COORDINATOR_EXCHANGE_VIEWS_H
#define FA_COORDINATOR_EXCHANGE_VIEWS_H

#include <stdio.h>

struct err;
struct store;

/* A script that creates the views, as temporary ones: it changes nothing in the
 * database.  ERR_STORE, or ERR_INPUT without a configuration. */
int views_script(struct store *store, FILE *to, struct err *err);

/* All rows of the view fa_sample as CSV (RFC 4180), with a heading. */
int views_csv(struct store *store, FILE *to, struct err *err);

#endif
