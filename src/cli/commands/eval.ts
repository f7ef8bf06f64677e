// `terrarium eval 'EXPR'` and `terrarium run FILE`: queries from scripts.

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { UsageError } from '../../config/read-config.ts'
import type { Config } from '../../config/settings.ts'
import { type ClientChoice, clientOptions, connect } from '../client/connect.ts'
import type { QueryText } from '../client/report.ts'
import { readText, runExpressions, runStatuses } from '../client/run-text.ts'
import { command, StartError } from '../command.ts'
import { reasonOf } from '../data-folder.ts'

const outputOptions = {
  json: { kind: 'switch', default: false, doc: 'Results and errors as JSON, a line each, instead of text.' },
  last: { kind: 'switch', default: false, doc: 'Shows the result of the last expression only.' },
} as const

/** Runs expressions from the command line. */
export const evalCommand = command({
  name: 'eval',
  summary: 'Runs queries written on the command line.',
  description: [
    'Queries are written as drivers write them: Get(Ref(Collection("users"), "1")). Several can follow one another; each ' +
      'result is printed, and the first that fails is the last to run.',
  ],
  operands: [{ name: 'EXPR', doc: 'The queries; - reads them from standard input.' }],
  options: { ...outputOptions, ...clientOptions },
  settings: ['data'],
  statuses: runStatuses,
  examples: [
    [`eval 'Paginate(Collections())'`, 'On the folder ./data, which may be served or not:'],
    [
      `eval --url https://db.example.org --json 'Now()'`,
      'On a service elsewhere, with the secret in TERRARIUM_SECRET:',
    ],
  ],
  async run({ operands: [expr = ''], options, config }) {
    const text = expr === '-' ? await textOf(process.stdin) : expr
    return runText({ text, file: undefined }, options, config)
  },
})

/** Runs the expressions of a file. */
export const runCommand = command({
  name: 'run',
  summary: 'Runs the queries in a file.',
  description: ['The file is read as a whole before anything runs, so a mistake in it changes nothing.'],
  operands: [{ name: 'FILE', doc: 'A file of queries, by custom named .fql; - for standard input.' }],
  options: { ...outputOptions, ...clientOptions },
  settings: ['data'],
  statuses: runStatuses,
  examples: [['run setup.fql --database shop', 'On a child database:']],
  async run({ operands: [file = ''], options, config }) {
    if (file === '-') return runText({ text: await textOf(process.stdin), file: undefined }, options, config)
    return runText({ text: readQueryFile(file), file }, options, config)
  },
})

/** The text of a file of queries. Throws {@link StartError}. */
export function readQueryFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${reasonOf(cause)}`)
  }
}

async function runText(
  from: QueryText,
  options: ClientChoice & { readonly json: boolean; readonly last: boolean },
  config: Config,
): Promise<number> {
  const { stdout, stderr } = process
  const expressions = readText(from, stderr)
  if (!expressions) return 2
  if (expressions.length === 0) throw new UsageError('there is no query to run')
  const connection = await connect(options, config)
  try {
    const run = { asJson: options.json, lastOnly: options.last, stdout, stderr }
    return await runExpressions(expressions, from, connection, run)
  } finally {
    await connection.close()
  }
}
