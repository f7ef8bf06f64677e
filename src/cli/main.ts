#!/usr/bin/env node
// The program `terrarium`.

import { setFlagsFromString } from 'node:v8'
import { openEngine } from '../open-engine.ts'
import { accountKeyCommand } from './commands/account-key.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { serveCommand } from './commands/serve.ts'
import { dispatch } from './dispatch.ts'

// After bulk work V8 expects objects of the same kind to live long and makes them in the old generation, where each keeps
// alive what it points to: queries then ran at little more than half their speed (case "compute" of the benchmark).
setFlagsFromString('--no-allocation-site-pretenuring')

/** To add a command: a file in commands/ and a line here. */
const commands = {
  serve: serveCommand(openEngine),
  check: checkCommand,
  'account-key': accountKeyCommand,
  backup: backupCommand,
  restore: restoreCommand,
}

process.exit(await dispatch(commands, process.argv.slice(2)))
