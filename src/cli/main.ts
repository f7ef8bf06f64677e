#!/usr/bin/env node
// The program `terrarium`.

import { openEngine } from '../open-engine.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { serveCommand } from './commands/serve.ts'
import { dispatch } from './dispatch.ts'

/** To add a command: a file in commands/ and a line here. */
const commands = {
  serve: serveCommand(openEngine),
  check: checkCommand,
  backup: backupCommand,
  restore: restoreCommand,
}

process.exit(await dispatch(commands, process.argv.slice(2)))
