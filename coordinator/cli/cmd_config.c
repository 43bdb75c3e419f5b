#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/usage/user_config.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

static void print_json(const struct user_config *config)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '[');
    for (size_t i = 0; i < config->n; i++) {
        const struct option_default *is = &config->list[i];

        json_out_open(&out, NULL, '{');
        if (is->command)
            json_out_text(&out, "command", is->command);
        else
            json_out_null(&out, "command");
        json_out_text(&out, "name", is->name);
        json_out_text(&out, "value", is->value);
        json_out_text(&out, "origin", is->origin);
        json_out_close(&out);
    }
    json_out_close(&out);
}

static void print(const struct user_config *config, bool origin)
{
    for (size_t i = 0; i < config->n; i++) {
        const struct option_default *is = &config->list[i];

        if (origin)
            printf("%s\t", is->origin);
        printf("%s%s%s=%s\n", is->command ? is->command : "",
               is->command ? "." : "", is->name, is->value);
    }
}

int cmd_config(int argc, char *argv[])
{
    bool origin = false, json = false;
    const struct option list[] = {
        { "show-origin", OPTION_FLAG, &origin, NULL,
          "say which line of the file, or which variable, each is from", NULL },
        { "json", OPTION_FLAG, &json, NULL, "for programs", NULL },
    };
    const struct options options = {
        .command = "config",
        .arguments = "",
        .what = "Show the defaults of flags that ~/.config/fa-coord/config and "
                "FA_COORD_* set. Of equals, the last one counts.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };
    struct user_config config = { NULL, 0 };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = user_config_load(&config, &err);
    if (rc == 0 && json)
        print_json(&config);
    else if (rc == 0)
        print(&config, origin);
    if (rc == 0)
        rc = terminal_flush(stdout, &err);
    user_config_fini(&config);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
