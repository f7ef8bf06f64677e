// All commands, in the order of `--help`. To add a command, add its declaration to commands/, its action to actions/,
// and a line here. Each action is imported only when it runs, because loading the engine takes long. So help,
// completion and the commands that only send requests start fast.

import type { Command } from './command.ts'
import {
  addProfileCommand,
  createAccountKeyCommand,
  createDatabaseCommand,
  createKeyCommand,
  deleteDatabaseCommand,
  deleteKeyCommand,
  deleteProfileCommand,
  listAccountKeysCommand,
  listDatabasesCommand,
  listKeysCommand,
  listProfilesCommand,
  revokeAccountKeyCommand,
} from './commands/access.ts'
import { completionCommand } from './commands/completion.ts'
import {
  backupCommand,
  checkCommand,
  migrateCommand,
  restoreCommand,
  verifyBackupCommand,
} from './commands/data-directory.ts'
import { eachCommand, exportCommand, importCommand, rewindCommand } from './commands/documents.ts'
import { evalCommand, runCommand, shellCommand } from './commands/queries.ts'
import { schemaPullCommand, schemaPushCommand, typesCommand } from './commands/schema.ts'
import { devCommand, serveCommand } from './commands/service.ts'

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
