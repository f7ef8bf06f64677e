// `terrarium eval --explain`: the reads of a query as text, or as the service tells them.

import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { Shown, TextQuery } from '../client/dialect.ts'
import { rowsText } from '../rows-text.ts'
import { type Output, styleFor, visible } from '../terminal.ts'

/** Explains a query and shows what it reads; resolves with whether it succeeds. */
export async function showExplanation(
  query: TextQuery,
  connection: QueryConnection,
  { asJson, stderr, stdout }: Shown,
): Promise<boolean> {
  const reply = await connection.explain(query.body)
  if (reply.kind === 'errors') {
    for (const { code, description } of reply.errors) writeError(code, description, stderr)
    return false
  }
  const told = reply.resource
  const errors = listAt(told, 'errors')
  if (asJson) stdout.write(`${writeJson(told)}\n`)
  else {
    for (const error of errors) writeError(textAt(error, 'code'), textAt(error, 'description'), stderr)
    stdout.write(readsText(told))
  }
  return errors.length === 0
}

function writeError(code: string, description: string, output: Output): void {
  output.write(`${styleFor(output)(['red', 'bold'], code)}: ${visible(description)}\n`)
}

function readsText(told: Json): string {
  const sets = listAt(told, 'sets').map(set => {
    const owner = textAt(set, 'collection')
    const index = textAt(set, 'index')
    const name = [owner, index].filter(each => each !== '').join('.')
    return [`${textAt(set, 'kind')} ${name}`, `${textAt(set, 'entries')} entries`]
  })
  const documents = listAt(told, 'documents').map(each => [
    `documents of ${textAt(each, 'collection')}`,
    `${textAt(each, 'documents')} documents`,
  ])
  const sums = [
    ['entries read', textAt(told, 'entries_read')],
    ['documents read', textAt(told, 'documents_read')],
    ['returned', textAt(told, 'returned')],
  ]
  return rowsText([...sets, ...documents, ...sums]) + listAt(told, 'suggestions').map(suggestionText).join('')
}

function suggestionText(suggestion: Json): string {
  const collection = visible(textAt(suggestion, 'collection'))
  const existing = textAt(suggestion, 'existing')
  const begin = `\nThe query reads all of ${collection}.`
  if (existing !== '') return `${begin} Use the index ${visible(existing)} instead.\n`
  const lines = visible(textAt(suggestion, 'definition')).split('\n')
  return `${begin} An index would spare that:\n${lines.map(line => `    ${line}\n`).join('')}`
}

function memberOf(json: Json, name: string): Json {
  return (json instanceof Map ? json.get(name) : undefined) ?? null
}

function listAt(json: Json, name: string): readonly Json[] {
  const member = memberOf(json, name)
  return Array.isArray(member) ? member : []
}

/** A text or a number as text; empty where there is nothing. */
function textAt(json: Json, name: string): string {
  const member = memberOf(json, name)
  return typeof member === 'string' || typeof member === 'bigint' || typeof member === 'number'
    ? String(member)
    : ''
}
