// The declaration of a command of the command line. The files of commands/ contain the declarations, and table.ts lists
// all commands. The argument parser, `--help`, the reference page and shell completion are derived from the
// declarations.

import {
  type Config,
  type Setting,
  type SettingName,
  settings,
  type ValueOf,
} from '../app/config/settings.ts'
import { reasonOf } from '../base/system-reasons.ts'

/** A flag that belongs to a command, not to the settings of the service. */
export type Option = Setting & {
  /** The flag may be repeated; the command receives all values. */
  readonly multiple?: true
  /** The letter of the flag's short form, such as `-y`. */
  readonly short?: string
  /** If the flag is absent, the value of the environment variable `TERRARIUM_…` is used. */
  readonly fromEnvironment?: true
}

/** Options by name; `dryRun` is the flag `--dry-run`. */
export type Options = Readonly<Record<string, Option>>

/** An argument that is not a flag. */
export interface Positional {
  /** Placeholder, such as `FOLDER`. */
  readonly name: string
  readonly doc: string
  readonly optional?: true
  /** The operand takes all remaining arguments. Allowed only for the last operand. */
  readonly multiple?: true
}

type OptionValue<O> = O extends { readonly multiple: true } ? readonly NonNullable<ValueOf<O>>[] : ValueOf<O>

/** The parsed arguments of a command. */
export interface Invocation<O extends Options> {
  readonly operands: readonly string[]
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> }
  /** The values of all settings of the service. Only settings that the command declares are flags of the command. */
  readonly config: Config
}

/** The declaration in a command's file. */
interface Declaration<O extends Options> {
  /** The name is a word, or two words for a subcommand: `schema pull`. */
  readonly name: string
  /** One sentence for the list of commands. */
  readonly summary: string
  /** Paragraphs for `--help` after the summary. */
  readonly description?: readonly string[]
  readonly operands?: readonly Positional[]
  readonly options?: O
  /** The settings that the command takes, in the order of `--help`. */
  readonly settings?: readonly SettingName[]
  /** Command lines without the name of the program, each with its description. */
  readonly examples?: readonly (readonly [line: string, meaning: string])[]
  /** Exit statuses that differ from the defaults: 0 for success, 1 for failure, 2 for an invalid command line. */
  readonly statuses?: readonly (readonly [status: number, meaning: string])[]
  /** Runs the command; resolves with the exit status. */
  readonly run: (invocation: Invocation<O>) => Promise<number>
}

/** A declaration with defaults for all optional parts. */
export interface Command extends Required<Declaration<Options>> {}

/** Adds the defaults to a declaration. */
export function command<const O extends Options>(declaration: Declaration<O>): Command {
  return {
    description: [],
    operands: [],
    options: {},
    settings: [],
    examples: [],
    statuses: [],
    ...declaration,
    // The cast is safe: the arguments are parsed according to the options with which `run` was declared.
    run: declaration.run as Command['run'],
  }
}

const configFlag: Option = {
  kind: 'path',
  placeholder: 'FILE',
  doc: 'JSON file with settings by name.',
}

/** All flags of a command with their names: the settings, `config` for a command with settings, and the options. */
export function commandFlags(command: Command): readonly (readonly [name: string, option: Option])[] {
  return [
    ...command.settings.map(name => [name, settings[name]] as const),
    ...(command.settings.length > 0 ? [['config', configFlag] as const] : []),
    ...Object.entries(command.options),
  ]
}

/**
 * A failure that the user can fix, such as a missing file. The program shows it as one line and exits with status 1.
 */
export class StartError extends Error {
  override name = 'StartError'
}

/** Runs a file operation. If the operation fails, throws {@link StartError} with the reason. */
export function withFile<T>(path: string, use: 'read' | 'written', work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new StartError(`${path} cannot be ${use}: ${reasonOf(cause)}`)
  }
}
