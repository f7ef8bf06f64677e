// Rows: what the old command line imported and simple scripts wrote. Each becomes `{data: row}` and gets an id, unless
// it brings one along (CSV files of dump scripts).

import { tryJson } from '../../values/json.ts'
import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { BadRecord, type FoundDocument } from '../record.ts'
import { readId } from '../references.ts'
import { driverValue } from './driver-values.ts'
import type { ElementContext, ReadElement } from './format.ts'
import { plainValue } from './plain-values.ts'

/** A row of a file of JSON. */
export const readRow: ReadElement = (element, context) => {
  if (!(element instanceof Map)) throw new BadRecord('a row has to be an object')
  return [documentOf(rowFields(element, context), undefined, context)]
}

/** `{"collectionId":"Movies","document":{…}}`: what a backup tool kept of a document. */
export const readCollectionIdDocument: ReadElement = (element, context) => {
  const fields = element instanceof Map ? element : new Map<string, Json>()
  const collection = fields.get('collectionId')
  const document = fields.get('document')
  if (typeof collection !== 'string' || !(document instanceof Map))
    throw new BadRecord('no `collectionId` with a `document`')
  const place = { ...context, collection }
  return [documentOf(rowFields(document, place), undefined, place)]
}

function documentOf(
  data: ObjectValue,
  id: bigint | undefined,
  { collection }: ElementContext,
): FoundDocument {
  const fields: ObjectValue = data.size > 0 ? new Map([['data', data]]) : new Map()
  return { kind: 'document', collection, id, ts: undefined, isHistory: false, isDelete: false, fields }
}

function rowFields(row: ReadonlyMap<string, Json>, context: ElementContext): ObjectValue {
  const fields = new Map<string, Value>()
  for (const [name, json] of row) fields.set(name, rowValue(json, name, context))
  return fields
}

/** A plain value, in which tags of drivers are understood. */
function rowValue(json: Json, path: string, context: ElementContext): Value {
  if (Array.isArray(json)) return json.map(element => rowValue(element, path, context))
  if (!(json instanceof Map)) return plainValue(json, path, context)
  const [first] = json.keys()
  if (json.size === 1 && first?.startsWith('@')) return driverValue(json)
  if (context.types.get(context.collection, path) !== undefined) return plainValue(json, path, context)
  const fields = new Map<string, Value>()
  for (const [name, field] of json) fields.set(name, rowValue(field, `${path}.${name}`, context))
  return fields
}

/** How the cells of a CSV file are read. */
export interface CellRules {
  /** The first column is the id of the document. */
  readonly hasIds: boolean
  /** Every cell is JSON; else those only that begin like an object or an array. */
  readonly allJson: boolean
  readonly emptyCells: 'null' | 'empty'
}

/** A row of a CSV file. */
export function readCells(
  names: readonly string[],
  cells: readonly string[],
  rules: CellRules,
  context: ElementContext,
): FoundDocument {
  const fields = new Map<string, Value>()
  let id: bigint | undefined
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? ''
    if (at === 0 && rules.hasIds) {
      id = readId(cell)
      if (id === undefined) throw new BadRecord(`"${cell}" is no id of a document`)
      continue
    }
    fields.set(name, cellValue(cell, name, rules, context))
  }
  return documentOf(fields, id, context)
}

function cellValue(
  cell: string,
  name: string,
  { allJson, emptyCells }: CellRules,
  context: ElementContext,
): Value {
  if (cell === '') return emptyCells === 'null' || allJson ? null : ''
  const type = context.types.get(context.collection, name)
  if (type === undefined && (allJson || cell.startsWith('{') || cell.startsWith('['))) {
    const json = tryJson(cell)
    if (json !== undefined) return rowValue(json, name, context)
  }
  return plainValue(cell, name, context)
}
