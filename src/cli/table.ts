// All commands, in the order of `--help`. To add one: a file in commands/ and a line here.

import { openEngine } from '../open-engine.ts'
import { clientCommands } from './client-commands.ts'
import type { Command } from './command.ts'
import {
  createAccountKeyCommand,
  listAccountKeysCommand,
  revokeAccountKeyCommand,
} from './commands/account-key.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { completionCommand } from './commands/completion.ts'
import { exportCommand } from './commands/export.ts'
import { importCommand } from './commands/import.ts'
import { migrateCommand } from './commands/migrate.ts'
import { serveCommand } from './commands/serve.ts'

/** The commands of the program. */
export const commands: readonly Command[] = [
  serveCommand(openEngine),
  ...clientCommands,
  checkCommand,
  backupCommand,
  restoreCommand,
  migrateCommand,
  importCommand,
  exportCommand,
  createAccountKeyCommand,
  listAccountKeysCommand,
  revokeAccountKeyCommand,
  completionCommand(() => commands),
]
