// Runs queries from the command line, a file or standard input.

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { memberOf } from '../../transfer/references.ts'
import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import { withConnection } from '../client/connect.ts'
import { listAt, type QueryConnection } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { jsonText, type QuerySource, writeError } from '../client/report.ts'
import {
  type ParsedQuery,
  type ResultOutput,
  type ShellLanguage,
  TextFault,
} from '../client/shell-language.ts'
import { shellLanguageOf } from '../client/shell-languages.ts'
import { withFile } from '../command.ts'
import { escapeHidden, quantity, rowsText } from '../terminal.ts'

interface Choice extends ClientChoice {
  readonly json: boolean
  readonly last: boolean
  readonly fql: string
  readonly explain: boolean
}

/** `text`: queries, or `-` for standard input. Resolves with the exit status. */
export async function evaluate(text: string, choice: Choice, config: Config): Promise<number> {
  return runText({ text: text === '-' ? await textOf(process.stdin) : text, file: undefined }, choice, config)
}

/** `file`: its path, or `-` for standard input. Resolves with the exit status. */
export async function runFile(file: string, choice: Choice, config: Config): Promise<number> {
  return file === '-'
    ? evaluate(file, choice, config)
    : runText({ text: readTextFile(file), file }, choice, config)
}

/** Throws {@link CommandError} if the file cannot be read. */
export function readTextFile(file: string): string {
  return withFile(file, 'read', () => readFileSync(file, 'utf8'))
}

/** Runs the queries one after the other, until one fails. */
async function runText(from: QuerySource, choice: Choice, config: Config): Promise<number> {
  const { stdout, stderr } = process
  const queries = parseQueries(await shellLanguageOf(choice.fql), from)
  if (!queries) return 2
  if (queries.length === 0) throw new UsageError('there is no query to run')
  return withConnection(choice, config, async connection => {
    for (const [index, query] of queries.entries()) {
      const showsResult = !choice.last || index === queries.length - 1
      const shown = { asJson: choice.json, showsResult, stdout, stderr }
      const isDone = choice.explain
        ? await showExplanation(query, connection, shown)
        : await query.run(connection, shown)
      if (!isDone) return 1
    }
    return 0
  })
}

/** Shows the error of an invalid text and returns undefined. */
function parseQueries(language: ShellLanguage, from: QuerySource): readonly ParsedQuery[] | undefined {
  try {
    return language.parse(from)
  } catch (fault) {
    if (!(fault instanceof TextFault)) throw fault
    fault.show(process.stderr)
    return undefined
  }
}

/**
 * `--explain`: shows the reads of a query as text or, with `--json`, as the JSON of the service. Resolves with true if
 * the query succeeds.
 */
async function showExplanation(
  query: ParsedQuery,
  connection: QueryConnection,
  { asJson, stderr, stdout }: ResultOutput,
): Promise<boolean> {
  const reply = await connection.explain(query.body)
  if (reply.kind === 'errors') {
    for (const { code, description } of reply.errors) writeError(code, description, stderr)
    return false
  }
  const explanation = reply.resource
  const errors = listAt(explanation, 'errors')
  if (asJson) stdout.write(`${jsonText(writeJson(explanation), stdout)}\n`)
  else {
    for (const error of errors) writeError(textAt(error, 'code'), textAt(error, 'description'), stderr)
    stdout.write(readsText(explanation))
  }
  return errors.length === 0
}

function readsText(explanation: Json): string {
  const sets = listAt(explanation, 'sets').map(set => {
    const collection = textAt(set, 'collection')
    const index = textAt(set, 'index')
    const name = [collection, index].filter(each => each !== '').join('.')
    return [`${textAt(set, 'kind')} ${name}`, quantity(textAt(set, 'entries'), 'entry', 'entries')]
  })
  const documents = listAt(explanation, 'documents').map(each => [
    `documents of ${textAt(each, 'collection')}`,
    quantity(textAt(each, 'documents'), 'document'),
  ])
  const sums = [
    ['entries read', textAt(explanation, 'entries_read')],
    ['documents read', textAt(explanation, 'documents_read')],
    ['returned', textAt(explanation, 'returned')],
  ]
  const suggestions = listAt(explanation, 'suggestions').map(suggestionText)
  return rowsText([...sets, ...documents, ...sums]) + suggestions.join('')
}

function suggestionText(suggestion: Json): string {
  const collection = escapeHidden(textAt(suggestion, 'collection'))
  const existing = textAt(suggestion, 'existing')
  const begin = `\nThe query reads all of ${collection}.`
  if (existing !== '') return `${begin} Use the index ${escapeHidden(existing)} instead.\n`
  const lines = escapeHidden(textAt(suggestion, 'definition')).split('\n')
  return `${begin} This index would avoid it:\n${lines.map(line => `    ${line}\n`).join('')}`
}

/** Returns an empty string if the member is neither a text nor a number. */
function textAt(json: Json, name: string): string {
  const member = memberOf(json, name)
  return typeof member === 'string' || typeof member === 'bigint' || typeof member === 'number'
    ? String(member)
    : ''
}
