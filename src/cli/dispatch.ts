// Finds and runs the command of a command line. Prints a message and returns status 2 for an invalid command line, or
// status 1 after any other failure that the user can fix.

import { UsageError } from '../app/config/read-config.ts'
import { BackupError } from '../backup/target.ts'
import { closestTo } from '../base/closest.ts'
import { version } from '../base/program-files.ts'
import { StoreUnavailableError } from '../storage/kv/store-errors.ts'
import { type Command, CommandError } from './command.ts'
import { commandHelp, groupHelp, programHelp } from './help.ts'
import { parseCommandLine } from './parse-command-line.ts'
import { escapeHidden, styleFor } from './terminal.ts'

/** Resolves with the exit status. */
export async function dispatch(commands: readonly Command[], words: readonly string[]): Promise<number> {
  try {
    return await run(commands, words)
  } catch (cause) {
    if (cause instanceof UsageError) return complain(`${cause.message} (see --help)`, 2)
    const isExplained = [CommandError, StoreUnavailableError, BackupError].some(kind => cause instanceof kind)
    if (isExplained) return complain((cause as Error).message, 1)
    throw cause
  }
}

const helpFlags: ReadonlySet<string> = new Set(['--help', '-h'])

async function run(commands: readonly Command[], words: readonly string[]): Promise<number> {
  const [first] = words
  const flags = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined)
  const isHelpWanted = flags.some(word => helpFlags.has(word))
  if (first === '--version' || first === '-v' || first === 'version') return print(`terrarium ${version}\n`)
  if (first === undefined || first.startsWith('-')) {
    if (first !== undefined && helpFlags.has(first))
      return help(
        commands,
        words.slice(1).filter(word => !word.startsWith('-')),
      )
    if (isHelpWanted || first === undefined) return print(programHelp(commands))
    const serve = commands.find(({ name }) => name === 'serve') as Command
    return serve.run(parseCommandLine(serve, words, process.env))
  }
  if (first === 'help') return help(commands, words.slice(1))
  const found = find(commands, words)
  if (isHelpWanted) return help(commands, found ? found.name.split(' ') : [first])
  if (found === undefined) throw unknownCommand(commands, words)
  return found.run(parseCommandLine(found, words.slice(found.name.split(' ').length), process.env))
}

/** The name has one or two words. */
function find(commands: readonly Command[], words: readonly string[]): Command | undefined {
  const two = words.slice(0, 2).join(' ')
  return commands.find(({ name }) => name === two) ?? commands.find(({ name }) => name === words[0])
}

/** The commands whose names have two words and begin with `word`. */
function groupOf(commands: readonly Command[], word: string | undefined): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `))
}

function help(commands: readonly Command[], words: readonly string[]): number {
  const [first] = words
  if (first === undefined) return print(programHelp(commands))
  const found = find(commands, words)
  if (found) return print(commandHelp(found))
  const group = groupOf(commands, first)
  if (group.length > 0) return print(groupHelp(first, group))
  throw unknownCommand(commands, words)
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): UsageError {
  const [first = '', second] = words
  const group = groupOf(commands, first)
  if (group.length > 0 && (second === undefined || second.startsWith('-'))) {
    const seconds = group.map(({ name }) => name.split(' ')[1])
    return new UsageError(`${first} needs one of ${seconds.join(', ')}`)
  }
  const given = group.length > 0 ? `${first} ${second}` : first
  const closest = closestTo(given, [...commands.map(({ name }) => name), 'help', 'version'])
  const hint = closest === undefined ? '' : `; did you mean "${closest}"?`
  return new UsageError(`unknown command "${given}"${hint}`)
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function complain(message: string, status: number): number {
  const name = styleFor(process.stderr)(['red', 'bold'], 'terrarium')
  process.stderr.write(`${name}: ${escapeHidden(message)}\n`)
  return status
}
