/* command_table.h - the commands of fa-coord, for usage/commands.h */
#ifndef FA_COORDINATOR_CLI_COMMAND_TABLE_H
#define FA_COORDINATOR_CLI_COMMAND_TABLE_H

void command_table_use(void);

#endif
