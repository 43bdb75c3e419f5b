/* Which GPUs a hosts file is believed to have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/tasks/run_believed.h"

static const struct gpu_arch_facts *believed(const char *text, const char *arch)
{
    const struct gpu_arch_facts *row;
    struct hosts hosts;
    struct err err;

    if (hosts_parse("hosts.txt", text, strlen(text), &hosts, &err) < 0)
        fail_msg("%s", err.text);
    row = run_believed(&hosts, arch);
    hosts_fini(&hosts);
    return row;
}

#define START " start=\"./r start {host}\" stop=\"./r stop {host}\" role=gpu\n"
#define BUILDER "build role=builder slots=16\n"

static void the_hosts_file_names_the_model(void **state)
{
    static const struct {
        const char *text, *arch;
    } rows[] = {
        { BUILDER "box model=L4" START, "sm_89" },
        { BUILDER "pool l4 max=3" START, "sm_89" },
        { BUILDER "pool spot-a100 max=2" START, "sm_80" },
        { "h200-east" START "H200-west" START, "sm_90" },
        { "l4-1 model=rtx-5090" START, "sm_120" }, /* the line says it */
        { BUILDER "box" START, NULL },
        { "l4-1" START "box" START, NULL },
        { "l4-1" START "t4-1" START, NULL },
        { BUILDER, NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_ptr_equal(believed(rows[i].text, NULL),
                         rows[i].arch ? gpu_arch_find(rows[i].arch) : NULL);
}

static void the_command_line_comes_first(void **state)
{
    (void)state;
    assert_ptr_equal(believed("box" START, "sm_90"), gpu_arch_find("sm_90"));
    assert_ptr_equal(believed("l4" START, "90"), gpu_arch_find("sm_90"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hosts_file_names_the_model),
        cmocka_unit_test(the_command_line_comes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
