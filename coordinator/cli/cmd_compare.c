#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_print.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/terminal.h"

#define TOP_DEFAULT 20

struct settings {
    const char *paths[2];
    const char *threshold;
    bool every, json;
    int64_t top; /* -1: not given */
};

/* "3%" or "0.03"; a bare 3 is refused because it could mean either. */
static int read_threshold(const char *text, double *out, struct err *err)
{
    char *end;
    double number;

    errno = 0;
    number = strtod(text, &end);
    if (end != text && strcmp(end, "%") == 0) {
        number /= 100;
        end++;
    }
    if (end == text || *end || errno || !(number > 0 && number < 1))
        return err_set(err, ERR_INPUT,
                       "compare: --threshold '%s': write a percentage such as "
                       "3%%, or a fraction between 0 and 1 such as 0.03",
                       text);
    *out = number;
    return 0;
}

static int run(const struct settings *settings,
               const struct compare_rules *rules, enum compare_outcome *outcome,
               struct err *err)
{
    struct compare_side a = { 0 }, b = { 0 };
    struct compare *compare = NULL;
    int rc = compare_side_open(settings->paths[0], &a, err);

    if (rc == 0)
        rc = compare_side_open(settings->paths[1], &b, err);
    if (rc == 0)
        rc = compare_make(&a, &b, rules, &compare, err);
    if (rc == 0) {
        *outcome = compare->outcome;
        if (settings->json)
            compare_json(compare, stdout);
        else
            compare_table(compare,
                          settings->top < 0 ? TOP_DEFAULT
                                            : (size_t)settings->top,
                          stdout);
        rc = terminal_flush(stdout, err);
    }
    compare_free(compare);
    compare_side_close(&a);
    compare_side_close(&b);
    return rc;
}

/* Exit code 1 means "regression", so a failure must not end with 1. */
static int fail(int rc, const struct err *err)
{
    int code = fail_with(rc, err);

    return code == EXIT_ANSWER_BAD ? EXIT_ANSWER_UNKNOWN : code;
}

int cmd_compare(int argc, char *argv[])
{
    struct settings settings = { .top = -1 };
    struct compare_rules rules = COMPARE_RULES;
    enum compare_outcome outcome = COMPARE_INCONCLUSIVE;
    const struct option list[] = {
        { "threshold", OPTION_TEXT, &settings.threshold, "3%",
          "ignore smaller changes (default 3%)", NULL },
        { "every", OPTION_FLAG, &rules.every, NULL,
          "count every slower configuration as a regression, not only the "
          "winner",
          NULL },
        { "across-gpus", OPTION_FLAG, &rules.across_gpus, NULL,
          "compare records of two models of GPU, whatever their names", NULL },
        { "top", OPTION_INT, &settings.top, "N",
          "rows of configurations to show, 0 for all (default 20; JSON has "
          "all)",
          NULL },
        { "json", OPTION_FLAG, &settings.json, NULL,
          "print everything as JSON (docs/compare.md)", NULL },
    };
    const struct options options = {
        .command = "compare",
        .arguments = "A.db B.db",
        .what = "Is B slower than A?  Exit code: 0 no, 1 yes, 2 cannot tell.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_min = 2,
        .arguments_max = 2,
        .plain = settings.paths,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0 && settings.threshold)
        rc = read_threshold(settings.threshold, &rules.threshold, &err);
    if (rc == 0)
        rc = run(&settings, &rules, &outcome, &err);
    return rc < 0 ? fail(rc, &err) : (int)outcome;
}
