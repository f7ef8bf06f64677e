#!/usr/bin/env node
// The program `terrarium`.

import { openEngine } from '../open-engine.ts'
import { accountKeyCommand } from './commands/account-key.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { serveCommand } from './commands/serve.ts'
import { dispatch } from './dispatch.ts'

/** To add a command: a file in commands/ and a line here. */
const commands = {
  serve: serveCommand(openEngine),
  check: checkCommand,
  'account-key': accountKeyCommand,
  backup: backupCommand,
  restore: restoreCommand,
}

process.exit(await dispatch(commands, process.argv.slice(2)))
