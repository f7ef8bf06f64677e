// All commands, in the order of `--help`. To add a command, add its declaration to commands/, its action to actions/,
// and a line here. An action is imported when it runs: help, completion and the commands that only send requests then
// start in a fraction of the time that loading the engine takes, which matters in scripts.

import type { Command } from './command.ts'
import {
  createAccountKeyCommand,
  listAccountKeysCommand,
  revokeAccountKeyCommand,
} from './commands/account-key.ts'
import { backupCommand, restoreCommand, verifyBackupCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { completionCommand } from './commands/completion.ts'
import { createDatabaseCommand, deleteDatabaseCommand, listDatabasesCommand } from './commands/database.ts'
import { devCommand } from './commands/dev.ts'
import { eachCommand } from './commands/each.ts'
import { evalCommand, runCommand } from './commands/eval.ts'
import { exportCommand } from './commands/export.ts'
import { importCommand } from './commands/import.ts'
import { createKeyCommand, deleteKeyCommand, listKeysCommand } from './commands/key.ts'
import { migrateCommand } from './commands/migrate.ts'
import { addProfileCommand, deleteProfileCommand, listProfilesCommand } from './commands/profile.ts'
import { rewindCommand } from './commands/rewind.ts'
import { schemaPullCommand, schemaPushCommand } from './commands/schema.ts'
import { serveCommand } from './commands/serve.ts'
import { shellCommand } from './commands/shell.ts'
import { typesCommand } from './commands/types.ts'

/** The commands of the program. */
export const commands: readonly Command[] = [
  serveCommand,
  devCommand,
  shellCommand,
  evalCommand,
  runCommand,
  schemaPullCommand,
  schemaPushCommand,
  typesCommand,
  checkCommand,
  backupCommand,
  verifyBackupCommand,
  restoreCommand,
  migrateCommand,
  importCommand,
  exportCommand,
  rewindCommand,
  eachCommand,
  createDatabaseCommand,
  listDatabasesCommand,
  deleteDatabaseCommand,
  createKeyCommand,
  listKeysCommand,
  deleteKeyCommand,
  addProfileCommand,
  listProfilesCommand,
  deleteProfileCommand,
  createAccountKeyCommand,
  listAccountKeysCommand,
  revokeAccountKeyCommand,
  completionCommand(() => commands),
]
