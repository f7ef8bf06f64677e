// Imports a GraphQL schema from a file, or from standard input for `-`.

import { text as textOf } from 'node:stream/consumers'
import type { Config } from '../../app/config/settings.ts'
import { withConnection } from '../client/connect.ts'
import type { ClientChoice } from '../client/options.ts'
import { isConfirmed } from '../terminal.ts'
import { readTextFile } from './eval.ts'

interface Choice extends ClientChoice {
  readonly mode: string
  readonly yes: boolean
}

/** Resolves with the exit status. */
export async function importSchema(file: string, choice: Choice, config: Config): Promise<number> {
  const text = file === '-' ? await textOf(process.stdin) : readTextFile(file)
  const { mode, yes } = choice
  return withConnection(choice, config, async connection => {
    const question = 'Delete all collections of earlier imports with their documents?'
    if (mode === 'override' && !(await isConfirmed({ yes }, question))) return 1
    const rejection = await connection.importGraphql(text, mode)
    if (rejection === undefined) {
      process.stdout.write('The schema is imported. Send operations to the path /graphql.\n')
      return 0
    }
    process.stderr.write(`${rejection}\n`)
    return 1
  })
}
