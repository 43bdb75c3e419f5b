/* stats_peer - lets another program check our statistics
 *
 * It reads one JSON object per line, {"ask": NAME, ...}, and answers with one.
 * NAME is a row of the table below.  test_stats_peer.py uses it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "common/mem.h"
#include "common/sampling.h"
#include "coordinator/stats/mann_whitney.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/signed_rank.h"
#include "coordinator/stats/spending.h"
#include "coordinator/stats/stats.h"
#include "coordinator/stats/variance_ratio.h"

struct reals {
    double *items;
    size_t n;
};

static struct reals read_reals(const cJSON *ask, const char *name)
{
    const cJSON *array = cJSON_GetObjectItem(ask, name), *item;
    struct reals out = {
        mem_new((size_t)cJSON_GetArraySize(array), sizeof(double)), 0
    };

    cJSON_ArrayForEach(item, array) out.items[out.n++] = item->valuedouble;
    return out;
}

static double spec_read_real(const cJSON *ask, const char *name)
{
    return cJSON_GetObjectItem(ask, name)->valuedouble;
}

/* JSON has no infinity, but Python reads it. */
static void put(const char *name, double value)
{
    if (isinf(value))
        printf("\"%s\": %sInfinity, ", name, value < 0 ? "-" : "");
    else
        printf("\"%s\": %.17g, ", name, value);
}

static void answer_rank_test(const cJSON *ask)
{
    struct reals x = read_reals(ask, "x"), y = read_reals(ask, "y");
    struct mann_whitney out;

    mann_whitney(x.items, x.n, y.items, y.n, &out);
    put("u", out.u);
    put("p", out.p);
    put("delta", out.delta);
    put("exact", out.exact);
    free(x.items);
    free(y.items);
}

static void answer_signed_rank(const cJSON *ask)
{
    struct reals values = read_reals(ask, "values");
    struct reals strata = read_reals(ask, "strata");
    struct difference *d = mem_new(values.n, sizeof(*d));
    struct signed_rank out;

    for (size_t i = 0; i < values.n; i++)
        d[i] = (struct difference){ values.items[i], (int)strata.items[i] };
    signed_rank(d, values.n, spec_read_real(ask, "confidence"), &out);
    put("p", out.p);
    put("p_above", out.p_above);
    put("estimate", out.estimate);
    put("lo", out.lo);
    put("hi", out.hi);
    free(d);
    free(strata.items);
    free(values.items);
}

static void answer_holm(const cJSON *ask)
{
    struct reals p = read_reals(ask, "p");

    mann_whitney_holm(p.items, p.n, p.items);
    printf("\"p\": [");
    for (size_t i = 0; i < p.n; i++)
        printf("%s%.17g", i > 0 ? ", " : "", p.items[i]);
    printf("], ");
    free(p.items);
}

static void answer_median(const cJSON *ask)
{
    struct reals s = read_reals(ask, "samples");
    struct sampling_rules rules = SAMPLING_RULES;
    struct sampling out;
    struct summary summary;

    rules.confidence = spec_read_real(ask, "confidence");
    sampling_next(s.items, s.n, &rules, &out);
    stats_summary(s.items, s.n, &summary);
    put("median", out.median);
    put("lo", out.lo);
    put("hi", out.hi);
    put("spread", summary.spread);
    free(s.items);
}

static void answer_normal(const cJSON *ask)
{
    put("z", normal_quantile(spec_read_real(ask, "p")));
    put("p", normal_cdf(normal_quantile(spec_read_real(ask, "p"))));
}

static void answer_spending(const cJSON *ask)
{
    struct reals shares = read_reals(ask, "shares");
    double alpha = spec_read_real(ask, "alpha");
    struct spending spending;

    spending_init(&spending, alpha);
    printf("\"spent\": [");
    for (size_t i = 0; i < shares.n; i++)
        printf("%s%.17g", i > 0 ? ", " : "",
               spending_spent(alpha, shares.items[i]));
    printf("], \"levels\": [");
    for (size_t i = 0; i < shares.n; i++)
        printf("%s%.17g", i > 0 ? ", " : "",
               spending_look(&spending, shares.items[i]));
    printf("], ");
    free(shares.items);
}

static void answer_variance_ratio(const cJSON *ask)
{
    put("p", variance_ratio_p(spec_read_real(ask, "ratio"),
                              spec_read_real(ask, "upper"),
                              spec_read_real(ask, "lower")));
}

static const struct {
    const char *name;
    void (*answer)(const cJSON *ask);
} answers[] = {
    { "rank_test", answer_rank_test },
    { "signed_rank", answer_signed_rank },
    { "holm", answer_holm },
    { "median", answer_median },
    { "normal", answer_normal },
    { "spending", answer_spending },
    { "variance_ratio", answer_variance_ratio },
};

int main(void)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        cJSON *ask = cJSON_Parse(line);
        const char *name =
            cJSON_GetStringValue(cJSON_GetObjectItem(ask, "ask"));

        printf("{");
        for (size_t i = 0; name && i < sizeof(answers) / sizeof(answers[0]);
             i++)
            if (strcmp(answers[i].name, name) == 0)
                answers[i].answer(ask);
        printf("\"ask\": \"%s\"}\n", name ? name : "");
        fflush(stdout);
        cJSON_Delete(ask);
    }
    free(line);
    return 0;
}
