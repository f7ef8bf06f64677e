// The indexes and unique constraints that the definition of a collection declares, and their texts on pages.

import { at, isMap, type Json, listAt, textAt } from '../wire/json.ts'

/** An index in requests. `unique`: number of the constraint, from 0. An index of version 4 has no `collection`. */
export type IndexPart =
  | { readonly index: string; readonly collection?: string }
  | { readonly collection: string; readonly unique: number }

/**
 * Returns a part for each index and each unique constraint: the fields of its definition, `collection`, and `name` for
 * an index or `number` for a unique constraint.
 */
export function partsOf(collection: Json): readonly Json[] {
  const own: readonly [string, Json][] = [['collection', at(collection, 'name') ?? null]]
  const indexes = at(collection, 'indexes')
  const named = isMap(indexes)
    ? Array.from(
        indexes,
        ([name, index]) => new Map([...own, ['name', name], ...(isMap(index) ? index : [])]),
      )
    : []
  const constraints = listAt(collection, 'constraints').filter(isMap)
  const unique = constraints
    .filter(each => each.has('unique'))
    .map((each, number) => new Map<string, Json>([...own, ...each, ['number', number]]))
  return [...named, ...unique]
}

export const isUnderWay = (part: Json) => ['building', 'pending'].includes(textAt(part, 'status') ?? '')

/** Returns a name such as `items.byName`, or the fields of a constraint. */
export function nameOf(part: Json): string {
  const name = textAt(part, 'name')
  const collection = textAt(part, 'collection')
  return name === undefined ? `${collection}: unique ${fieldsText(part, 'unique')}` : `${collection}.${name}`
}

export function indexPartOf(part: Json): IndexPart {
  const collection = textAt(part, 'collection') ?? ''
  const index = textAt(part, 'name')
  return index === undefined ? { collection, unique: Number(at(part, 'number')) } : { collection, index }
}

/** Adds a leading dot if it is missing. */
function fieldOf(item: Json): string {
  const field = typeof item === 'string' ? item : (textAt(item, 'field') ?? '')
  return /^[.[]/.test(field) ? field : `.${field}`
}

/** Returns the fields as text, such as `.price desc`. */
export function fieldsText(part: Json, list: 'terms' | 'values' | 'unique'): string {
  const each = listAt(part, list).map(item => {
    const notes = [
      ...(at(item, 'order') === 'desc' ? ['desc'] : []),
      ...(at(item, 'mva') === true ? ['each element'] : []),
    ]
    return [fieldOf(item), ...notes].join(' ')
  })
  return each.join(', ')
}

/** State of the build, and its effect on queries. */
export function stateText(part: Json): string {
  const status = textAt(part, 'status')
  if (status === 'failed')
    return 'failed: a document violates the constraint. Change the document to continue the build'
  if (status === 'building') return 'being built; queries that use it fail'
  if (status === 'pending') return 'being built; new writes are already checked'
  return at(part, 'queryable') === false ? 'ready; disabled for queries' : 'ready'
}

export function pathOf(part: Json): readonly string[] {
  const identified = indexPartOf(part)
  const collection = identified.collection ?? ''
  return 'unique' in identified
    ? ['collections', collection, 'unique', String(identified.unique)]
    : ['collections', collection, 'indexes', identified.index]
}

export function fslOf(part: Json): string {
  if (at(part, 'unique') !== undefined) return `unique [${fieldsOf(part, 'unique').join(', ')}]`
  const lists = (['terms', 'values'] as const).flatMap(list => {
    const fields = fieldsOf(part, list)
    return fields.length === 0 ? [] : [`  ${list} [${fields.join(', ')}]`]
  })
  return `index ${textAt(part, 'name')} {\n${lists.map(line => `${line}\n`).join('')}}`
}

/** Returns the fields in the syntax of schema files: `desc(.price)`, `mva(.tags)`. */
function fieldsOf(part: Json, list: 'terms' | 'values' | 'unique'): readonly string[] {
  return listAt(part, list).map(item => {
    const each = at(item, 'mva') === true ? `mva(${fieldOf(item)})` : fieldOf(item)
    return at(item, 'order') === 'desc' ? `desc(${each})` : each
  })
}

/**
 * A query that uses an index. Returns undefined for constraints, which queries do not name, and for collection names
 * that need quotes.
 */
export function usageOf(part: Json): string | undefined {
  const name = textAt(part, 'name')
  const collection = textAt(part, 'collection') ?? ''
  if (name === undefined || !isPlainName(collection)) return undefined
  const terms = listAt(part, 'terms').map(term => `/* ${textAt(term, 'field') ?? ''} */ ""`)
  return `${collection}.${name}(${terms.join(', ')})`
}

const isPlainName = (name: string) => /^[A-Za-z_]\w*$/.test(name)
