/* user_config.h - defaults of flags, from a file and from the environment
 *
 *   # ~/.config/fa-coord/config
 *   hosts = ~/gpus.txt
 *   sweep.budget = 5
 *   accept-new-host-keys = true
 *
 * NAME = VALUE holds for every command that has the flag, COMMAND.NAME for
 * one.  FA_COORD_NAME in the environment overrules the file, and the command
 * line overrules both (options.h).  Flags that destroy something cannot be set
 * here.
 */
#ifndef FA_COORDINATOR_USAGE_USER_CONFIG_H
#define FA_COORDINATOR_USAGE_USER_CONFIG_H

#include <stddef.h>

struct err;
struct option_default;

struct user_config {
    struct option_default *list; /* of equals, the last one counts */
    size_t n;
};

/* Read the file's text. 'path' is named in origins and messages, and 'home' is
 * what a leading ~/ of a value stands for.  ERR_INPUT names the line. */
int user_config_parse(const char *text, const char *path, const char *home,
                      struct user_config *out, struct err *err);

/* Add what FA_COORD_* variables say. ERR_INPUT for one that names no flag. */
int user_config_environment(char *const *environment, struct user_config *out,
                            struct err *err);

/* The file's path: XDG_CONFIG_HOME, else ~/.config. The caller frees it; NULL
 * without a home. */
char *user_config_path(void);

/* Both; a file that does not exist is empty.  Of one that cannot be read:
 * ERR_SYSTEM if the machine has too little of something or fails, else
 * ERR_INPUT. */
int user_config_load(struct user_config *out, struct err *err);
void user_config_fini(struct user_config *config);

#endif
