// Finds the command that the words name and runs it. Mistakes of the caller end with one line and status 2, other
// failures that an operator can mend with one line and status 1.

import { UsageError } from '../config.ts'
import { type Command, StartError } from './command.ts'
import { commandHelp, programHelp } from './help.ts'

/** Commands by name. */
export type Commands = Readonly<Record<string, Command>>

/** Runs one command line; resolves with the exit status. */
export async function dispatch(commands: Commands, words: readonly string[]): Promise<number> {
  try {
    return await run(commands, words)
  } catch (cause) {
    if (cause instanceof UsageError) return complain(`${cause.message} (see --help)`, 2)
    if (cause instanceof StartError) return complain(cause.message, 1)
    throw cause
  }
}

async function run(commands: Commands, words: readonly string[]): Promise<number> {
  const [first] = words
  const named = first !== undefined && !first.startsWith('-')
  if (first === 'help' || (!named && words.includes('--help'))) {
    process.stdout.write(programHelp(commands))
    return 0
  }
  const name = named ? first : 'serve'
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UsageError(`unknown command "${name}"`)
  const rest = named ? words.slice(1) : words
  if (rest.includes('--help')) {
    process.stdout.write(commandHelp(name, command))
    return 0
  }
  return command.run(rest)
}

function complain(message: string, status: number): number {
  process.stderr.write(`terrarium: ${message}\n`)
  return status
}
