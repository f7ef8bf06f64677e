// The command line of the scripts: options, `--help`, and errors without a stack trace.

import { type ParseArgsConfig, parseArgs } from 'node:util'

/** `--help` prints `usage` and exits with 0; an invalid option prints the error and `usage`, and exits with 2. */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>({
  usage,
  options,
  allowPositionals = false,
}: {
  readonly usage: string
  readonly options: Options
  readonly allowPositionals?: boolean
}) {
  try {
    const all = { ...options, help: { type: 'boolean', short: 'h', default: false } } as const
    const parsed = parseArgs({ options: all, allowPositionals })
    if ((parsed.values as { readonly help?: boolean }).help !== true) return parsed
    console.log(usage)
    process.exit(0)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}
