/* Which hosts belong to which model of GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/hosts/host_models.h"
#include "coordinator/hosts/hosts.h"

static struct hosts parse(const char *text)
{
    struct hosts hosts;
    struct err err;

    if (hosts_parse("hosts.txt", text, strlen(text), &hosts, &err) < 0)
        fail_msg("%s", err.text);
    return hosts;
}

/* The names of the hosts of a model, with a blank after each. */
static void takes(const char *text, const char *model, const char *want)
{
    struct hosts hosts = parse(text);
    char names[1000] = "";
    struct err err;

    if (host_models_take("hosts.txt", &hosts, model, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < hosts.n; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
                 hosts.list[i].name);
    assert_string_equal(names, want);
    hosts_fini(&hosts);
}

static void refuses(const char *text, const char *model, const char *message)
{
    struct hosts hosts = parse(text);
    struct err err;

    assert_int_equal(host_models_take("hosts.txt", &hosts, model, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, message);
    hosts_fini(&hosts);
}

static void a_model_has_the_hosts_of_its_label(void **state)
{
    const char *text = "a[1-2] model=l4\nb model=h200\nc model=l4 rate=1\n";
    struct hosts hosts = parse(text);
    struct host_models models;
    struct err err;

    (void)state;
    assert_int_equal(host_models_list("hosts.txt", &hosts, &models, &err), 0);
    assert_int_equal(models.n, 2);
    assert_string_equal(models.names[0], "l4");
    assert_string_equal(models.names[1], "h200");
    hosts_fini(&hosts);
    takes(text, "l4", "a1 a2 c ");
    takes(text, "h200", "b ");
}

static void builders_without_a_label_are_dealt_in_turn(void **state)
{
    const char *text = "a model=l4\nb model=h200\nbuild[1-3] role=builder\n"
                       "own role=builder model=h200\nnone gpus=none\n";

    (void)state;
    takes(text, "l4", "a build1 build3 ");
    takes(text, "h200", "b build2 own none ");
}

static void a_model_that_cannot_build_gets_the_first_builder(void **state)
{
    const char *text = "a model=l4\nb model=h200 role=gpu\n"
                       "build1 role=builder\nbuild2 role=builder\n";

    (void)state;
    takes(text, "h200", "b build1 ");
    takes(text, "l4", "a build2 ");
}

static void a_pool_and_nodes_of_slurm_belong_to_a_model(void **state)
{
    const char *text = "pool p max=2 start=/bin/true stop=/bin/true model=l4\n"
                       "slurm:gpu nodes=1-2 workdir=/shared model=h200\n";

    (void)state;
    takes(text, "l4", "p-1 p-2 ");
    takes(text, "h200", "slurm:gpu-1 slurm:gpu-2 ");
}

static void what_does_not_go_is_refused(void **state)
{
    char many[1000] = "";
    struct hosts hosts;
    struct host_models models;
    struct err err;

    (void)state;
    refuses("a model=l4\nb\n", "l4",
            "hosts.txt:2: host 'b' measures and has no model=, but others have "
            "one; write the model of its GPUs, such as model=l4");
    refuses("a model=l4\nb model=h200\n", "l40",
            "hosts.txt: no host has model=l40; the file has l4, h200");
    refuses("a\n", "l4",
            "hosts.txt: no host has model=l4, because none has model=");
    for (int i = 0; i < 17; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many),
                 "h%d model=m%d\n", i, i);
    hosts = parse(many);
    assert_int_equal(host_models_list("hosts.txt", &hosts, &models, &err),
                     ERR_INPUT);
    assert_string_equal(err.text,
                        "hosts.txt:17: model=m16 is one more than the 16 "
                        "models that one file may have; split the file");
    hosts_fini(&hosts);
}

static void labels_are_fit_for_names_of_files(void **state)
{
    struct hosts hosts;
    struct err err;

    (void)state;
    assert_int_equal(
        hosts_parse("hosts.txt", "a model=../x\n", 13, &hosts, &err),
        ERR_INPUT);
    assert_non_null(strstr(err.text, "hosts.txt:1:9: a model contains the "
                                     "character '.'"));
    assert_int_equal(
        hosts_parse("hosts.txt", "a model=fuzz\n", 13, &hosts, &err),
        ERR_INPUT);
    assert_non_null(strstr(err.text, "no model can be called fuzz"));
}

static void a_path_may_name_a_model(void **state)
{
    char path[] = "/tmp/fa-host-models-XXXXXX", *longer = NULL;
    const char *text = "a model=l4\nb model=h200\n";
    int fd = mkstemp(path);
    struct hosts hosts;
    struct err err;

    (void)state;
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    assert_null(host_models_of_path(path));
    assert_null(host_models_of_path("hosts.txt#"));
    assert_true(asprintf(&longer, "%s#h200", path) > 0);
    assert_string_equal(host_models_of_path(longer), "h200");
    assert_int_equal(hosts_load(longer, &hosts, &err), 0);
    assert_int_equal(hosts.n, 1);
    assert_string_equal(hosts.list[0].name, "b");
    hosts_fini(&hosts);
    assert_int_equal(rename(path, longer), 0); /* a file of that whole name */
    assert_null(host_models_of_path(longer));
    assert_int_equal(hosts_load(longer, &hosts, &err), 0);
    assert_int_equal(hosts.n, 2);
    hosts_fini(&hosts);
    unlink(longer);
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_has_the_hosts_of_its_label),
        cmocka_unit_test(builders_without_a_label_are_dealt_in_turn),
        cmocka_unit_test(a_model_that_cannot_build_gets_the_first_builder),
        cmocka_unit_test(a_pool_and_nodes_of_slurm_belong_to_a_model),
        cmocka_unit_test(what_does_not_go_is_refused),
        cmocka_unit_test(labels_are_fit_for_names_of_files),
        cmocka_unit_test(a_path_may_name_a_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
