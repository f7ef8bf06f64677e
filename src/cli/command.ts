// The shape of a command of the command line: one file each in commands/, listed in table.ts. A command declares what
// it takes; reading the words, `--help`, the reference page and shell completion all derive from the declaration.

import {
  type Config,
  type Setting,
  type SettingName,
  settings,
  type ValueOf,
} from '../app/config/settings.ts'

/** A flag that belongs to a command and is no setting of the service. */
export type Option = Setting & {
  /** Given several times, all values count. */
  readonly multiple?: true
  /** A letter that stands for the flag behind a single hyphen. */
  readonly short?: string
  /** The variable `TERRARIUM_…` gives the value when the flag does not. */
  readonly fromEnvironment?: true
}

/** Options by name; `dryRun` is the flag `--dry-run`. */
export type Options = Readonly<Record<string, Option>>

/** A word that is no flag. */
export interface Positional {
  /** What it stands for, such as `FOLDER`. */
  readonly name: string
  readonly doc: string
  readonly optional?: true
  /** The last operand only: it takes all words that are left. */
  readonly multiple?: true
}

type OptionValue<O> = O extends { readonly multiple: true } ? readonly NonNullable<ValueOf<O>>[] : ValueOf<O>

/** What a command line asks of a command. */
export interface Invocation<O extends Options> {
  readonly operands: readonly string[]
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> }
  /** All settings of the service; a command line may only give those that the command names. */
  readonly config: Config
}

/** What the file of a command writes. */
interface Declaration<O extends Options> {
  /** One word, or two for one of several commands that belong together: `schema pull`. */
  readonly name: string
  /** One sentence for the list of commands. */
  readonly summary: string
  /** Paragraphs for `--help` beyond the summary. */
  readonly description?: readonly string[]
  readonly operands?: readonly Positional[]
  readonly options?: O
  /** The settings it takes, in the order of `--help`. */
  readonly settings?: readonly SettingName[]
  /** Command lines without the name of the program, each with what it does. */
  readonly examples?: readonly (readonly [line: string, meaning: string])[]
  /** What its exit statuses mean, where that is more than 0 for success, 1 for failure, 2 for a wrong call. */
  readonly statuses?: readonly (readonly [status: number, meaning: string])[]
  /** Runs to the end and resolves with the exit status. */
  readonly run: (invocation: Invocation<O>) => Promise<number>
}

/** A command as the table holds it, with all optional parts filled in. */
export interface Command extends Required<Declaration<Options>> {}

/** Completes a declaration. */
export function command<const O extends Options>(declaration: Declaration<O>): Command {
  return {
    description: [],
    operands: [],
    options: {},
    settings: [],
    examples: [],
    statuses: [],
    ...declaration,
    // The words are read by the same options that `run` was declared with.
    run: declaration.run as Command['run'],
  }
}

const configFlag: Option = {
  kind: 'path',
  placeholder: 'FILE',
  doc: 'A JSON file with settings; their names are its keys.',
}

/** All flags that a command takes, by name: its settings, `config` where it has settings, its options. */
export function commandFlags(command: Command): readonly (readonly [name: string, option: Option])[] {
  return [
    ...command.settings.map(name => [name, settings[name]] as const),
    ...(command.settings.length > 0 ? [['config', configFlag] as const] : []),
    ...Object.entries(command.options),
  ]
}

/** A failure to explain in one line: the operator's to fix, not a bug. Exit status 1. */
export class StartError extends Error {
  override name = 'StartError'
}
