// Reads rows of JSON and CSV files, for example files for the command line of Fauna's hosted service. Each row becomes
// the `data` of a document. The first column of a CSV file, or with an option the field `id` of a JSON row, can be the
// id of the document; others get a new id.

import { tryJson } from '../../values/json.ts'
import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { BadRecord, type SourceDocument } from '../record.ts'
import { readId } from '../references.ts'
import { driverValue } from './driver-values.ts'
import { isTagged10, plainFormReader, taggedFormReader } from './export-values.ts'
import type { ElementContext, ReadElement } from './format.ts'
import { faultOfId, readFields, readValue, type SpecialFormReader, tagOf } from './special-forms.ts'

export const readRow: ReadElement = (element, context) => {
  if (!(element instanceof Map)) throw new BadRecord('a row has to be an object')
  if (tagOf(element)?.[0] === '@ref') throw new BadRecord('a reference and not a document')
  const { id, fields } = context.hasRowIds ? withoutId(element) : { id: undefined, fields: element }
  return documentOf(readFields(fields, '', rowFormReader(context)), id, context)
}

/** The id may be undefined. */
function withoutId(row: ReadonlyMap<string, Json>) {
  const fields = new Map(row)
  fields.delete('id')
  const written = row.get('id')
  if (written === undefined || written === null) return { id: undefined, fields }
  const id = readId(written)
  if (id === undefined) throw new BadRecord(`a row ${faultOfId(written)}`)
  return { id, fields }
}

/** `{"collectionId":"Movies","document":{…}}`, the format of a backup tool. */
export const readCollectionIdDocument: ReadElement = (element, context) => {
  const fields = element instanceof Map ? element : new Map<string, Json>()
  const collection = fields.get('collectionId')
  const document = fields.get('document')
  if (typeof collection !== 'string' || !(document instanceof Map))
    throw new BadRecord('no `collectionId` with a `document`')
  const inner = { ...context, collection }
  return documentOf(readFields(document, '', rowFormReader(inner)), undefined, inner)
}

function documentOf(
  data: ObjectValue,
  id: bigint | undefined,
  { collection }: ElementContext,
): SourceDocument {
  const fields: ObjectValue = data.size > 0 ? new Map([['data', data]]) : new Map()
  return { kind: 'document', collection, id, ts: undefined, isHistory: false, isDelete: false, fields }
}

/** Formats without types, extended by the tags of both language versions. */
function rowFormReader(context: ElementContext): SpecialFormReader {
  const plain = plainFormReader(context)
  const tagged = taggedFormReader(context)
  return (json, path) => {
    if (!(json instanceof Map)) return plain(json, path)
    const tag = tagOf(json)
    if (tag) return isTagged10(...tag) ? tagged(json, path) : driverValue(json, path)
    return context.types.get(context.collection, path) === undefined ? undefined : plain(json, path)
  }
}

export interface CellRules {
  /** The first column is the id of the document. */
  readonly hasIds: boolean
  /** True: every cell is JSON. False: only cells that begin like an object or an array are. */
  readonly allJson: boolean
  readonly emptyCells: EmptyCells
}

/**
 * Values of empty cells. `null`: null, and an empty string for a cell in quotes. `quoted-null`: null, also for a cell
 * in quotes. `empty`: an empty string.
 */
export type EmptyCells = 'null' | 'quoted-null' | 'empty'

/** The value of a cell, or null for an empty cell without quotes. */
export type Cell = string | null

export function readCells(
  names: readonly string[],
  cells: readonly Cell[],
  rules: CellRules,
  context: ElementContext,
): SourceDocument {
  const fields = new Map<string, Value>()
  let id: bigint | undefined
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? null
    if (at === 0 && rules.hasIds) {
      id = readId(cell)
      if (id === undefined) throw new BadRecord(`a row ${faultOfId(cell)}`)
      continue
    }
    fields.set(name, cellValue(cell, name, rules, context))
  }
  return documentOf(fields, id, context)
}

function cellValue(
  cell: Cell,
  name: string,
  { allJson, emptyCells }: CellRules,
  context: ElementContext,
): Value {
  const type = context.types.get(context.collection, name)
  if (cell === null || cell === '') {
    if (allJson) return null
    if (emptyCells === 'empty') return ''
    // Some programs put quotes around every cell, so an empty cell in quotes is no value of other types than string.
    const isText = cell === '' && emptyCells === 'null' && (type === undefined || type === 'string')
    return isText ? '' : null
  }
  if (type === undefined && (allJson || cell.startsWith('{') || cell.startsWith('['))) {
    const json = tryJson(cell)
    if (json !== undefined) return readValue(json, name, rowFormReader(context))
  }
  return readValue(cell, name, plainFormReader(context))
}
