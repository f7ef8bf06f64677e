// Runs queries from the command line, from a file or from standard input.

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { reasonOf } from '../../base/system-reasons.ts'
import { connect } from '../client/connect.ts'
import { type Dialect, TextFault, type TextQuery } from '../client/dialect.ts'
import { dialectOf } from '../client/dialects.ts'
import type { ClientChoice } from '../client/options.ts'
import type { QueryText } from '../client/report.ts'
import { StartError } from '../command.ts'
import { showExplanation } from './explain.ts'

interface Choice extends ClientChoice {
  readonly json: boolean
  readonly last: boolean
  readonly fql: string
  readonly explain: boolean
}

/** Runs the queries in a text (`-`: standard input); resolves with the exit status. */
export async function evaluate(text: string, choice: Choice, config: Config): Promise<number> {
  return runText({ text: text === '-' ? await textOf(process.stdin) : text, file: undefined }, choice, config)
}

/** Runs the queries in a file (`-`: standard input); resolves with the exit status. */
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

/** Runs the queries of a text one after the other, until one fails. */
async function runText(from: QueryText, choice: Choice, config: Config): Promise<number> {
  const { stdout, stderr } = process
  const queries = readQueries(await dialectOf(choice.fql), from)
  if (!queries) return 2
  if (queries.length === 0) throw new UsageError('there is no query to run')
  const connection = await connect(choice, config)
  try {
    for (const [index, query] of queries.entries()) {
      const showsResult = !choice.last || index === queries.length - 1
      const shown = { asJson: choice.json, showsResult, stdout, stderr }
      const isDone = choice.explain
        ? await showExplanation(query, connection, shown)
        : await query.run(connection, shown)
      if (!isDone) return 1
    }
    return 0
  } finally {
    await connection.close()
  }
}

/** Parses the queries of a text. For an invalid text, shows the error and returns undefined. */
function readQueries(dialect: Dialect, from: QueryText): readonly TextQuery[] | undefined {
  try {
    return dialect.read(from)
  } catch (fault) {
    if (!(fault instanceof TextFault)) throw fault
    fault.show(process.stderr)
    return undefined
  }
}
