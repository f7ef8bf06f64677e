// `terrarium eval --explain`: shows the reads of a query as text, or as JSON from the service.

import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { ResultOutput, TextQuery } from '../client/dialect.ts'
import { quantity } from '../quantity.ts'
import { rowsText } from '../rows-text.ts'
import { type Output, styleFor, visible } from '../terminal.ts'

/** Explains a query and shows its reads; resolves with true if the query succeeds. */
export async function showExplanation(
  query: TextQuery,
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
  if (asJson) stdout.write(`${writeJson(explanation)}\n`)
  else {
    for (const error of errors) writeError(textAt(error, 'code'), textAt(error, 'description'), stderr)
    stdout.write(readsText(explanation))
  }
  return errors.length === 0
}

function writeError(code: string, description: string, output: Output): void {
  output.write(`${styleFor(output)(['red', 'bold'], code)}: ${visible(description)}\n`)
}

function readsText(explanation: Json): string {
  const sets = listAt(explanation, 'sets').map(set => {
    const owner = textAt(set, 'collection')
    const index = textAt(set, 'index')
    const name = [owner, index].filter(each => each !== '').join('.')
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
  const collection = visible(textAt(suggestion, 'collection'))
  const existing = textAt(suggestion, 'existing')
  const begin = `\nThe query reads all of ${collection}.`
  if (existing !== '') return `${begin} Use the index ${visible(existing)} instead.\n`
  const lines = visible(textAt(suggestion, 'definition')).split('\n')
  return `${begin} This index would avoid it:\n${lines.map(line => `    ${line}\n`).join('')}`
}

function memberOf(json: Json, name: string): Json {
  return (json instanceof Map ? json.get(name) : undefined) ?? null
}

function listAt(json: Json, name: string): readonly Json[] {
  const member = memberOf(json, name)
  return Array.isArray(member) ? member : []
}

/** A text or a number as text; empty if it is missing. */
function textAt(json: Json, name: string): string {
  const member = memberOf(json, name)
  return typeof member === 'string' || typeof member === 'bigint' || typeof member === 'number'
    ? String(member)
    : ''
}
