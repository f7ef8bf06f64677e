// All commands, in the order of `--help`. To add a command, add its declaration to the list of commands in a file of
// commands/, and its action to actions/. Actions are imported only when they run, because loading the engine takes
// long: help, completion and the commands that only send requests start fast.

import type { Command } from './command.ts'
import { accessCommands } from './commands/access.ts'
import { completionCommand } from './commands/completion.ts'
import { dataDirectoryCommands } from './commands/data-directory.ts'
import { documentCommands } from './commands/documents.ts'
import { graphqlCommands } from './commands/graphql.ts'
import { queryCommands } from './commands/queries.ts'
import { schemaCommands } from './commands/schema.ts'
import { serviceCommands } from './commands/service.ts'

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
