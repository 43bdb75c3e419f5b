/* The identity of this coordinator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/link/self.h"
#include "coordinator/link/sweep_io.h"
#include "coordinator/store/store.h"

static void open_store(char folder[32], struct store **out)
{
    char path[64];
    struct err err;

    strcpy(folder, "/tmp/fa-self-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/sweep.db", folder);
    if (store_open(path, STORE_CREATE, out, &err) < 0)
        fail_msg("%s", err.text);
}

static void close_store(const char *folder, struct store *store)
{
    char command[64];

    store_close(store);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void it_is_this_process_on_this_database(void **state)
{
    int64_t before = clock_utc_ns();
    struct owner owner, again;
    struct store *store;
    char folder[32], path[64], host[256] = "";
    struct err err;

    (void)state;
    open_store(folder, &store);
    snprintf(path, sizeof(path), "%s/sweep.db", folder);
    gethostname(host, sizeof(host) - 1);
    assert_int_equal(self_owner(store, &owner, &err), 0);
    assert_int_equal(self_owner(store, &again, &err), 0);
    assert_int_equal(owner.pid, getpid());
    assert_string_equal(owner.machine, host);
    assert_string_equal(owner.database, path);
    assert_true(owner.since_utc >= before);
    assert_true(hash_is_hex(owner.id));
    assert_true(owner_is_same(&owner, &again));
    close_store(folder, store);
}

static void the_real_clocks_and_disk_are_those_of_the_machine(void **state)
{
    const struct sweep_clock *clock = &sweep_clock_real;
    int64_t boot_ns = clock_boot_ns(), utc_ns = clock_utc_ns();
    struct store *store;
    char folder[32];
    struct err err;

    (void)state;
    assert_in_range(clock->boot_ns(clock->self) - boot_ns, 0, 60 * NS_PER_S);
    assert_in_range(clock->utc_ns(clock->self) - utc_ns, 0, 60 * NS_PER_S);
    assert_in_range(clock->cpu_ns(clock->self), 1, 60 * NS_PER_S);
    open_store(folder, &store);
    assert_int_equal(store_begin(store, &err), 0);
    assert_int_equal(sweep_disk_real.commit(sweep_disk_real.self, store, &err),
                     0);
    close_store(folder, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_this_process_on_this_database),
        cmocka_unit_test(the_real_clocks_and_disk_are_those_of_the_machine),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
