// Parses the arguments of a command according to its declaration. `parseArgs` only splits the arguments; this file
// checks which flags and values are allowed, so that all commands report errors in the same words.

import { parseArgs } from 'node:util'
import {
  flagOf,
  fromEnvironment,
  type RawSetting,
  readConfig,
  readSetting,
  resolvedDefaultOf,
  UsageError,
} from '../app/config/read-config.ts'
import { closestTo } from '../base/closest.ts'
import { type Command, commandFlags, type Invocation, type Option, type Options } from './command.ts'
import { profileOptions } from './profiles.ts'

/** `name`: as declared. */
interface RawFlag extends RawSetting {
  readonly name: string
}

/** Reads a command line, the environment and the configuration file. Throws {@link UsageError}. */
export function parseCommandLine(
  command: Command,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Invocation<Options> {
  const flags = new Map(
    commandFlags(command).map(([name, option]) => [flagOf(name), { name, option }] as const),
  )
  const { found, operands } = split(flags, words)
  // Omits the command's own options. An option may have the name of a setting that the command does not take.
  const given = new Map(
    found.filter(({ name }) => !Object.hasOwn(command.options, name)).map(each => [each.name, each]),
  )
  const config = readConfig(given, env)
  checkOperands(command, operands)
  const options: Record<string, unknown> = {}
  const profile = Object.hasOwn(command.options, 'profile')
    ? profileOptions(
        found.findLast(({ name }) => name === 'profile'),
        env,
      )
    : undefined
  for (const [name, option] of Object.entries(command.options)) {
    const own = found.filter(each => each.name === name)
    options[name] = option.multiple
      ? own.map(each => readSetting(option, each))
      : optionValue(name, option, own.at(-1) ?? profile?.get(name), env)
  }
  // Each value was read by the option that declares its type.
  return { operands, config, options: options as Invocation<Options>['options'] }
}

function optionValue(
  name: string,
  option: Option,
  given: RawSetting | undefined,
  env: NodeJS.ProcessEnv,
): unknown {
  const found = given ?? (option.fromEnvironment && fromEnvironment(name, env))
  return found ? readSetting(option, found) : resolvedDefaultOf(option)
}

/** Flags by name without the leading hyphens. */
type Flags = ReadonlyMap<string, { readonly name: string; readonly option: Option }>

function split(flags: Flags, words: readonly string[]) {
  const options = Object.fromEntries(
    [...flags].map(([flag, { option }]) => [
      flag,
      {
        type: option.kind === 'switch' ? ('boolean' as const) : ('string' as const),
        ...(option.short !== undefined && { short: option.short }),
      },
    ]),
  )
  // Not strict: a switch may have a value, and this program has its own error messages.
  const { tokens } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const found: RawFlag[] = []
  const operands: string[] = []
  /** The switch right before the current token, if it has no value yet. */
  let open: RawFlag | undefined
  for (const token of tokens) {
    const switched = open
    open = undefined
    if (token.kind === 'positional') {
      // `--dashboard false` is the same as `--dashboard=false`.
      if (switched && /^(?:true|false)$/.test(token.value)) found.push({ ...switched, value: token.value })
      else operands.push(token.value)
    }
    if (token.kind !== 'option') continue
    const flag = flags.get(token.name)
    if (!flag) throw unknownFlag(token.rawName, [...flags.keys()])
    const isSwitch = flag.option.kind === 'switch'
    const value = token.value ?? (isSwitch ? 'true' : undefined)
    const isNextFlag = !token.inlineValue && value?.startsWith('--')
    if (value === undefined || isNextFlag) throw new UsageError(`${token.rawName} needs a value`)
    const taken = { name: flag.name, value, where: token.rawName }
    found.push(taken)
    if (isSwitch && token.value === undefined) open = taken
  }
  return { found, operands }
}

function unknownFlag(rawName: string, known: readonly string[]): UsageError {
  const closest = closestTo(rawName.replace(/^-+/, ''), known)
  return new UsageError(
    `unknown flag ${rawName}${closest === undefined ? '' : `; did you mean --${closest}?`}`,
  )
}

function checkOperands({ name, operands }: Command, given: readonly string[]): void {
  const missing = operands[given.length]
  if (missing && !missing.optional) throw new UsageError(`${name} needs ${missing.name}`)
  const unexpected = operands.at(-1)?.multiple ? undefined : given[operands.length]
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"`)
}
