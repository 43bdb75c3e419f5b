/* store_fixture.h - a database in a new folder, and rows to put into it */
#ifndef FA_TESTS_COORDINATOR_STORE_STORE_FIXTURE_H
#define FA_TESTS_COORDINATOR_STORE_STORE_FIXTURE_H

#include "coordinator/store/store.h"

/* cmocka set-up and tear-down: '*state' is the path of a database that does
 * not exist yet, in a folder of its own. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

#define FIXTURE_EPOCH INT64_C(1700000000000000000)

struct store *fixture_open(const char *path, enum store_mode mode);
/* Make the rows of a table hold as they are. */
void fixture_seal(struct store *store, const char *table);
int64_t fixture_number(struct store *store, const char *sql);

/* Rows with every field set; change what a test is about. */
struct store_sweep fixture_sweep(const char *key);
struct store_result fixture_result(const char *nonce, const char *config);
struct store_build fixture_build(const char *nonce, const char *config);

/* A configuration and its key. */
#define FIXTURE_PARAMS "{\"A\": 1}"
#define FIXTURE_KEY "f33edd0c37b3eb7b679101840e0f6b27"

/* What owns those rows: a run, or all of their run, their host, and the
 * configuration 'key' of a sweep, which has FIXTURE_PARAMS. */
void fixture_run(struct store *store, int64_t epoch);
void fixture_owners(struct store *store, const char *key);

#endif
