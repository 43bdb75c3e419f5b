/* cmd.h - the commands of fa-coord
 *
 * Each takes argv, beginning with its own name, and returns the exit code of
 * the program (docs/exit-codes.md; fuzz has some of its own).
 */
#ifndef FA_COORDINATOR_CLI_CMD_H
#define FA_COORDINATOR_CLI_CMD_H

int cmd_bench(int argc, char *argv[]);
int cmd_check(int argc, char *argv[]);
int cmd_compare(int argc, char *argv[]);
int cmd_completion(int argc, char *argv[]);
int cmd_config(int argc, char *argv[]);
int cmd_confirm(int argc, char *argv[]);
int cmd_doctor(int argc, char *argv[]);
int cmd_explain(int argc, char *argv[]);
int cmd_export(int argc, char *argv[]);
int cmd_fuzz(int argc, char *argv[]);
int cmd_help(int argc, char *argv[]);
int cmd_import(int argc, char *argv[]);
int cmd_init(int argc, char *argv[]);
int cmd_invite(int argc, char *argv[]);
int cmd_profile(int argc, char *argv[]);
int cmd_prune(int argc, char *argv[]);
int cmd_recover(int argc, char *argv[]);
int cmd_release(int argc, char *argv[]);
int cmd_report(int argc, char *argv[]);
int cmd_resume(int argc, char *argv[]);
int cmd_serve(int argc, char *argv[]);
int cmd_space(int argc, char *argv[]);
int cmd_status(int argc, char *argv[]);
int cmd_sweep(int argc, char *argv[]);
int cmd_verify(int argc, char *argv[]);
int cmd_watch(int argc, char *argv[]);

#endif
