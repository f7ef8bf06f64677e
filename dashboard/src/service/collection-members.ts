// The names that completion offers for a collection: its indexes and its declared fields. If the collection allows
// other fields, completion also offers the fields of its first documents.

import { at, isMap, listAt, textAt } from '../wire/json.ts'
import { anySignature, type Signature } from '../wire/signatures.ts'
import { mapping, pageOf, read, variable } from './data.ts'
import { signaturesOf } from './declared-fields.ts'
import { readSchema } from './schema.ts'

export interface CollectionMembers {
  readonly fields: ReadonlyMap<string, Signature>
  /** Parameters of indexes, such as `(.email)`, by the name of the index. */
  readonly indexes: ReadonlyMap<string, string>
}

const nothing: CollectionMembers = { fields: new Map(), indexes: new Map() }

/** Number of documents whose field names are read. */
const sampleSize = 50

/** Returns no members if the caller may read neither definition nor documents. */
export async function readMembers(collection: string, signal: AbortSignal): Promise<CollectionMembers> {
  const definition = await readSchema('collections', collection, signal).catch(() => undefined)
  if (definition === undefined) return { ...nothing, fields: await sampledFields(collection, signal) }
  const declared = signaturesOf(definition)
  const indexes = at(definition, 'indexes')
  const isOpen = !isMap(at(definition, 'fields')) || at(definition, 'wildcard') !== undefined
  const sampled = isOpen ? await sampledFields(collection, signal) : nothing.fields
  return {
    fields: new Map([...sampled, ...declared]),
    indexes: new Map(
      (isMap(indexes) ? [...indexes] : []).map(([name, index]) => {
        const terms = listAt(index, 'terms').map(term => textAt(term, 'field') ?? '')
        return [name, `(${terms.join(', ')})`]
      }),
    ),
  }
}

/** Returns only names, because documents may be megabytes long. */
async function sampledFields(collection: string, signal: AbortSignal) {
  const page = pageOf({ documents: { collection } }, sampleSize)
  const data = { to_array: { select: ['data'], from: { get: variable() }, default: { object: {} } } }
  const names = mapping(data, { select: 0n, from: variable('field') }, 'field')
  const result = await read(mapping(page, names), signal).catch(() => undefined)
  const found = listAt(result?.value, 'data').flatMap(each => listAt(each).map(String))
  return new Map(found.map(name => [name, anySignature]))
}
