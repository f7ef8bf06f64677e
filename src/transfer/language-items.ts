// Reads files in version 4 of the query language: calls that create schema objects, such as `CreateIndex({…})`, and
// values that the shell of Fauna's hosted service has printed. Nothing is evaluated.

import {
  FqlSyntaxError,
  lineAndColumn,
  NoValueError,
  readExpressions,
  valueOfQuery,
} from '../fql4/text/index.ts'
import type { Json } from '../values/value.ts'
import { readAll } from './input.ts'
import { BadRecord, type CreatedKind, type SchemaRecord, TransferError } from './record.ts'
import { namedKinds } from './references.ts'
import type { SourceFile } from './sources.ts'

/** An expression of a file in the query language. */
type LanguageContent =
  | { readonly kind: 'schema'; readonly record: SchemaRecord }
  /** A value in the wire form, such as a document or a page of documents. */
  | { readonly kind: 'value'; readonly json: Json }
  | { readonly kind: 'bad'; readonly reason: BadRecord }

type LanguageItem = LanguageContent & { readonly line: number; readonly size: number }

/** Yields the items in order. Throws {@link TransferError} at a syntax error. */
export async function* languageItems(file: SourceFile): AsyncGenerator<LanguageItem, void, undefined> {
  const { shown } = file
  const text = await readAll(file)
  try {
    for (const { end, json, start } of readExpressions(text)) {
      const place = { line: lineAndColumn(text, start).line, size: end - start }
      yield { ...place, ...contentOf(json) }
    }
  } catch (error) {
    if (!(error instanceof FqlSyntaxError)) throw error
    throw new TransferError(`${shown}:${error.line}:${error.column}: ${error.message}`, { cause: error })
  }
}

const creations = new Map<string, CreatedKind>([
  ...namedKinds.map(kind => [`create_${kind}`, kind] as const),
  ['create_class', 'collection'],
])

function contentOf(json: Json): LanguageContent {
  try {
    if (json instanceof Map && json.size === 1) {
      const [[form, parameters]] = [...json] as [[string, Json]]
      const kind = creations.get(form)
      if (kind !== undefined) return { kind: 'schema', record: creation(kind, valueOfQuery(parameters)) }
    }
    return { kind: 'value', json: valueOfQuery(json) }
  } catch (error) {
    if (!(error instanceof NoValueError || error instanceof BadRecord)) throw error
    const reason =
      error instanceof BadRecord
        ? error
        : new BadRecord('neither a value nor a call that creates a schema object')
    return { kind: 'bad', reason }
  }
}

function creation(object: CreatedKind, value: Json): SchemaRecord {
  const name = value instanceof Map ? value.get('name') : undefined
  if (!(value instanceof Map) || typeof name !== 'string') throw new BadRecord(`a ${object} without a name`)
  return { kind: 'schema', object, name, params: value }
}
