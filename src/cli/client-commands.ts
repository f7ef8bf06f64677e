// The commands that only talk to a service. They are apart because they load in a fraction of the time that a program with
// an engine in it takes, which scripts notice.

import type { Command } from './command.ts'
import { evalCommand, runCommand } from './commands/eval.ts'
import { schemaPullCommand, schemaPushCommand } from './commands/schema.ts'
import { shellCommand } from './commands/shell.ts'

/** In the order of `--help`. */
export const clientCommands: readonly Command[] = [
  shellCommand,
  evalCommand,
  runCommand,
  schemaPullCommand,
  schemaPushCommand,
]
