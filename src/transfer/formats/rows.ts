// Rows: what the old command line imported and simple scripts wrote. Each becomes `{data: row}` and gets an id, unless
// it brings one along (CSV files of dump scripts).

import { tryJson } from '../../values/json.ts'
import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { BadRecord, type FoundDocument } from '../record.ts'
import { readId } from '../references.ts'
import { driverValue } from './driver-values.ts'
import type { ElementContext, ReadElement } from './format.ts'
import { faultOfId, type Notation, readFields, readValue, tagOf } from './notation.ts'
import { plainNotation } from './plain-values.ts'

/** A row of a file of JSON. */
export const readRow: ReadElement = (element, context) => {
  if (!(element instanceof Map)) throw new BadRecord('a row has to be an object')
  return [documentOf(readFields(element, '', rowNotation(context)), undefined, context)]
}

/** `{"collectionId":"Movies","document":{…}}`: what a backup tool kept of a document. */
export const readCollectionIdDocument: ReadElement = (element, context) => {
  const fields = element instanceof Map ? element : new Map<string, Json>()
  const collection = fields.get('collectionId')
  const document = fields.get('document')
  if (typeof collection !== 'string' || !(document instanceof Map))
    throw new BadRecord('no `collectionId` with a `document`')
  const place = { ...context, collection }
  return [documentOf(readFields(document, '', rowNotation(place)), undefined, place)]
}

function documentOf(
  data: ObjectValue,
  id: bigint | undefined,
  { collection }: ElementContext,
): FoundDocument {
  const fields: ObjectValue = data.size > 0 ? new Map([['data', data]]) : new Map()
  return { kind: 'document', collection, id, ts: undefined, isHistory: false, isDelete: false, fields }
}

/** The plain notation, in which tags of drivers are understood. */
function rowNotation(place: ElementContext): Notation {
  const plain = plainNotation(place)
  return (json, path) => {
    if (!(json instanceof Map)) return plain(json, path)
    if (tagOf(json)) return driverValue(json, path)
    return place.types.get(place.collection, path) === undefined ? undefined : plain(json, path)
  }
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
      if (id === undefined) throw new BadRecord(`a row ${faultOfId(cell)}`)
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
    if (json !== undefined) return readValue(json, name, rowNotation(context))
  }
  return readValue(cell, name, plainNotation(context))
}
