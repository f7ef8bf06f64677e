// The shell's own commands: lines that begin with a dot.

import { closestTo } from '../../base/closest.ts'
import { fqlFunctions } from '../../fql4/text/index.ts'
import { CommandError } from '../command.ts'

/** The state that the shell's own commands change. */
export interface ShellState {
  asJson: boolean
  /** Sets the caller of later queries. If `who` is undefined, restores the rights of the secret. */
  actAs(who: string | undefined): Promise<void>
  /**
   * Sets the secret of later queries, without a database or a caller. If `secret` is undefined, restores the connection
   * with which the shell was opened.
   */
  useSecret(secret: string | undefined): Promise<void>
  /** A path below the secret's database; undefined means the secret's database. */
  useDatabase(path: string | undefined): Promise<void>
  runFile(file: string): Promise<void>
  /** Sets the language version of later queries. If `version` is undefined, prints the current version. */
  useLanguage(version: string | undefined): Promise<void>
  leave(): void
  say(text: string): void
}

interface DotCommand {
  readonly usage: string
  readonly doc: string
  run(argument: string | undefined, state: ShellState): void | Promise<void>
}

const dotCommands: Readonly<Record<string, DotCommand>> = {
  '.help': {
    usage: '.help [FUNCTION]',
    doc: 'lists the commands, or describes a function',
    run: (name, state) => state.say(name === undefined ? overview() : functionHelp(name)),
  },
  '.json': {
    usage: '.json [on|off]',
    doc: 'shows results as JSON or as text',
    run(argument, state) {
      if (argument !== undefined && argument !== 'on' && argument !== 'off')
        throw new CommandError('.json is on or off')
      state.asJson = argument === undefined ? !state.asJson : argument === 'on'
      state.say(`results are shown as ${state.asJson ? 'JSON' : 'text'}`)
    },
  },
  '.database': {
    usage: '.database [PATH]',
    doc: "sends queries to a database below the secret's; without PATH, to the secret's own database",
    run: (path, state) => state.useDatabase(path),
  },
  '.as': {
    usage: '.as [WHO]',
    doc: 'sends queries with the rights of admin, server, server-readonly, client, @role/NAME or @doc/COLLECTION/ID; without WHO, with your own',
    run: (who, state) => state.actAs(who),
  },
  '.secret': {
    usage: '.secret [SECRET]',
    doc: 'sends queries with another secret; without SECRET, with the first one',
    run: (secret, state) => state.useSecret(secret),
  },
  '.version': {
    usage: '.version [4|10]',
    doc: 'selects the version of the language; without an argument, prints it',
    run: (version, state) => state.useLanguage(version),
  },
  '.run': {
    usage: '.run FILE',
    doc: 'runs the queries in a file',
    run(file, state) {
      if (file === undefined) throw new CommandError('.run needs FILE')
      return state.runFile(file)
    },
  },
  '.exit': {
    usage: '.exit',
    doc: 'exits the shell, like Ctrl-D',
    run: (_, state) => state.leave(),
  },
}

export const dotCommandNames: readonly string[] = Object.keys(dotCommands)

/** Throws {@link CommandError} for an invalid command. */
export async function runDotCommand(line: string, state: ShellState): Promise<void> {
  const [name = '', ...words] = line.trim().split(/\s+/)
  const found = Object.hasOwn(dotCommands, name) ? dotCommands[name] : undefined
  if (!found) {
    const closest = closestTo(name, dotCommandNames)
    throw new CommandError(
      `unknown command ${name}; ${closest === undefined ? 'see .help' : `did you mean ${closest}?`}`,
    )
  }
  await found.run(words.length === 0 ? undefined : words.join(' '), state)
}

function overview(): string {
  const usages = Object.values(dotCommands).map(({ usage }) => usage)
  const width = Math.max(...usages.map(usage => usage.length))
  return [
    'Type queries as drivers write them, such as Paginate(Collections()); a query may take several lines.',
    'Tab completes functions and, in quotes, names. Ctrl-C cancels a query or clears the input.',
    '',
    ...Object.values(dotCommands).map(({ usage, doc }) => `  ${usage.padEnd(width)}  ${doc}`),
  ].join('\n')
}

function functionHelp(name: string): string {
  const wanted = name.toLowerCase()
  const found = fqlFunctions.filter(each => each.name.toLowerCase() === wanted)
  const shown =
    found.length > 0 ? found : fqlFunctions.filter(each => each.name.toLowerCase().startsWith(wanted))
  if (shown.length === 0) {
    const closest = closestTo(
      name,
      fqlFunctions.map(each => each.name),
    )
    throw new CommandError(
      `there is no function ${name}${closest === undefined ? '' : `; did you mean ${closest}?`}`,
    )
  }
  return shown.map(({ signature, result, summary }) => `${signature}: ${result}\n    ${summary}`).join('\n')
}
