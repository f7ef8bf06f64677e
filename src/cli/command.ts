// Declarations of commands. The files of commands/ contain them, and table.ts lists all commands. The argument parser,
// `--help`, the reference page and shell completion are derived from them.

import {
  type Config,
  type Setting,
  type SettingName,
  settings,
  type ValueOf,
} from '../app/config/settings.ts'
import { reasonOf } from '../base/system-reasons.ts'

/** A flag that only commands have. The settings of the service are further flags, for some commands. */
export type Option = Setting & {
  /** The command receives the values of all repetitions. */
  readonly multiple?: true
  /** Letter of the short form, such as `-y`. */
  readonly short?: string
  /** The environment variable `TERRARIUM_…` replaces an absent flag. */
  readonly fromEnvironment?: true
}

/** Options by name; `dryRun` is the flag `--dry-run`. */
export type Options = Readonly<Record<string, Option>>

/** Declares an operand: an argument that is neither a flag nor the value of a flag. */
export interface Operand {
  /** Placeholder, such as `FOLDER`. */
  readonly name: string
  readonly doc: string
  readonly optional?: true
  /** Takes all remaining arguments. Allowed only for the last operand. */
  readonly multiple?: true
}

type OptionValue<O> = O extends { readonly multiple: true } ? readonly NonNullable<ValueOf<O>>[] : ValueOf<O>

/** Arguments of a command after parsing. */
export interface Invocation<O extends Options> {
  readonly operands: readonly string[]
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> }
  /** All settings of the service. Only those that the command declares are its flags. */
  readonly config: Config
}

/** The declaration in a command's file; {@link command} adds the defaults. */
interface Declaration<O extends Options> {
  /** A word, or two words for a subcommand: `schema pull`. */
  readonly name: string
  /** A sentence for the list of commands. */
  readonly summary: string
  /** Paragraphs for `--help` after the summary. */
  readonly description?: readonly string[]
  readonly operands?: readonly Operand[]
  readonly options?: O
  /** Settings in the order of `--help`. */
  readonly settings?: readonly SettingName[]
  /** Command lines without the name of the program. */
  readonly examples?: readonly (readonly [line: string, meaning: string])[]
  /** Lists only statuses that differ from the defaults: 0 for success, 1 for failure, 2 for an invalid command line. */
  readonly statuses?: readonly (readonly [status: number, meaning: string])[]
  /** Resolves with the exit status. */
  readonly run: (invocation: Invocation<O>) => Promise<number>
}

export interface Command extends Required<Declaration<Options>> {}

export function command<const O extends Options>(declaration: Declaration<O>): Command {
  return {
    description: [],
    operands: [],
    options: {},
    settings: [],
    examples: [],
    statuses: [],
    ...declaration,
    // The arguments are parsed according to the options with which `run` was declared.
    run: declaration.run as Command['run'],
  }
}

const configFlag: Option = {
  kind: 'path',
  placeholder: 'FILE',
  doc: 'JSON file with settings by name.',
}

/** The settings, `config` for a command with settings, and the options. */
export function commandFlags(command: Command): readonly (readonly [name: string, option: Option])[] {
  return [
    ...command.settings.map(name => [name, settings[name]] as const),
    ...(command.settings.length > 0 ? [['config', configFlag] as const] : []),
    ...Object.entries(command.options),
  ]
}

/**
 * A failure of a command that the user can fix, such as a missing file or an unreachable service. The program shows the
 * message without a stack trace and exits with status 1.
 */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** Throws {@link CommandError} with the reason if the operation fails. */
export function withFile<T>(path: string, use: 'read' | 'written', work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new CommandError(`${path} cannot be ${use}: ${reasonOf(cause)}`)
  }
}
