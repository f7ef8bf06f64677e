// All commands, in the order of `--help`. To add a command, add its declaration to a file of commands/ and to the list at
// the end of the file, and add its action to actions/. Each action is imported only when it runs, because loading the
// engine takes long. So help, completion and the commands that only send requests start fast.

import type { Command } from './command.ts'
import { accessCommands } from './commands/access.ts'
import { completionCommand } from './commands/completion.ts'
import { dataDirectoryCommands } from './commands/data-directory.ts'
import { documentCommands } from './commands/documents.ts'
import { graphqlCommands } from './commands/graphql.ts'
import { queryCommands } from './commands/queries.ts'
import { schemaCommands } from './commands/schema.ts'
import { serviceCommands } from './commands/service.ts'

/** The commands of the program. */
export const commands: readonly Command[] = [
  ...serviceCommands,
  ...queryCommands,
  ...schemaCommands,
  ...graphqlCommands,
  ...dataDirectoryCommands,
  ...documentCommands,
  ...accessCommands,
  completionCommand(() => commands),
]
