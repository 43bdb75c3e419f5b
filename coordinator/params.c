#include "coordinator/params.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "common/err.h"
#include "common/mem.h"

#define INTEGER_MAX 9007199254740992.0 /* 2^53 */

static struct param number_param(double number)
{
    struct param param = { .type = PARAM_REAL, .number = number };

    if (number == floor(number) && fabs(number) <= INTEGER_MAX) {
        param.type = PARAM_INTEGER;
        param.text = mem_printf("%.0f", number);
    } else {
        param.text = mem_printf("%.9g", number);
        if (strtod(param.text, NULL) != number) {
            free(param.text);
            param.text = mem_printf("%.17g", number);
        }
    }
    return param;
}

static struct param param_of(const struct cJSON *item)
{
    bool truth = cJSON_IsTrue(item);

    if (cJSON_IsNumber(item))
        return number_param(item->valuedouble);
    if (cJSON_IsBool(item))
        return (struct param){ .type = PARAM_BOOL,
                               .number = truth,
                               .text = mem_strdup(truth ? "true" : "false") };
    return (struct param){
        .type = PARAM_TEXT,
        .text = mem_strdup(cJSON_IsString(item) ? item->valuestring : "null")
    };
}

int params_parse(const char *json, struct params *out, struct err *err)
{
    cJSON *tree = cJSON_Parse(json);
    const cJSON *item;

    *out = (struct params){ 0 };
    if (!cJSON_IsObject(tree)) {
        cJSON_Delete(tree);
        return err_set(err, ERR_STORE,
                       "parameters '%.80s' are not a JSON object", json);
    }
    cJSON_ArrayForEach(item, tree)
    {
        struct param param = param_of(item);

        param.name = mem_strdup(item->string);
        out->items = mem_grow(out->items, out->n + 1, sizeof(*out->items));
        out->items[out->n++] = param;
    }
    cJSON_Delete(tree);
    return 0;
}

void params_fini(struct params *params)
{
    for (size_t i = 0; i < params->n; i++) {
        free(params->items[i].name);
        free(params->items[i].text);
    }
    free(params->items);
    *params = (struct params){ 0 };
}

const struct param *params_find(const struct params *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++)
        if (strcmp(params->items[i].name, name) == 0)
            return &params->items[i];
    return NULL;
}
