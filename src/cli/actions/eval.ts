// Runs queries from the command line, from a file or from standard input.

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { reasonOf } from '../../base/system-reasons.ts'
import { UsageError } from '../../config/read-config.ts'
import type { Config } from '../../config/settings.ts'
import { connect } from '../client/connect.ts'
import { dialectOf } from '../client/dialects.ts'
import type { ClientChoice } from '../client/options.ts'
import type { QueryText } from '../client/report.ts'
import { readText, runQueries } from '../client/run-text.ts'
import { StartError } from '../command.ts'

interface Choice extends ClientChoice {
  readonly json: boolean
  readonly last: boolean
  readonly fql: string
}

/** Runs the queries of a text, `-` for standard input; resolves with the exit status. */
export async function evaluate(text: string, choice: Choice, config: Config): Promise<number> {
  return runText({ text: text === '-' ? await textOf(process.stdin) : text, file: undefined }, choice, config)
}

/** Runs the queries in a file, `-` for standard input; resolves with the exit status. */
export async function runFile(file: string, choice: Choice, config: Config): Promise<number> {
  return file === '-'
    ? evaluate(file, choice, config)
    : runText({ text: readQueryFile(file), file }, choice, config)
}

/** The text of a file of queries. Throws {@link StartError}. */
export function readQueryFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${reasonOf(cause)}`)
  }
}

async function runText(from: QueryText, choice: Choice, config: Config): Promise<number> {
  const { stdout, stderr } = process
  const queries = readText(await dialectOf(choice.fql), from, stderr)
  if (!queries) return 2
  if (queries.length === 0) throw new UsageError('there is no query to run')
  const connection = await connect(choice, config)
  try {
    const run = { asJson: choice.json, lastOnly: choice.last, stdout, stderr }
    return await runQueries(queries, connection, run)
  } finally {
    await connection.close()
  }
}
