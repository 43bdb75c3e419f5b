/* land_fixture.h - a small landscape with all kinds of values and outcomes */
#ifndef FA_TESTS_COORDINATOR_EXCHANGE_LAND_FIXTURE_H
#define FA_TESTS_COORDINATOR_EXCHANGE_LAND_FIXTURE_H

#include <stdio.h>

struct landscape;

struct landscape *land_fixture(void);

/* Fail the test if the file is no landscape. */
struct landscape *land_fixture_load(const char *name);
void land_fixture_save(const struct landscape *land,
                       void (*write)(const struct landscape *land, FILE *to),
                       const char *name);
/* The text of a file; valid until the next call. */
const char *land_fixture_text(const char *name);

/* Fail unless they have the same configurations in the same order. */
void land_fixture_equal(const struct landscape *a, const struct landscape *b);

#endif
