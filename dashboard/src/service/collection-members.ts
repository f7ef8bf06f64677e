// The names that completion offers for a collection: its indexes and its declared fields. If the collection allows
// other fields, completion also offers the fields of its first documents.

import { at, isMap, listAt, textAt } from '../wire/json.ts'
import { anySignature, type Signature } from '../wire/signatures.ts'
import { mapping, pageOf, read, variable } from './data.ts'
import { signaturesOf } from './declared-fields.ts'
import { ServiceError } from './faults.ts'
import { readSchema } from './schema.ts'

export interface CollectionMembers {
  readonly fields: ReadonlyMap<string, Signature>
  /** Parameters of indexes, such as `(.email)`, by the name of the index. */
  readonly indexes: ReadonlyMap<string, string>
  /** False if a read failed, for example because it took too long. Missing permissions are no such failure. */
  readonly isComplete: boolean
}

/** Number of documents whose fields completion offers. */
const sampleSize = 50

/** Members that the caller has no permission to read are omitted. */
export async function readMembers(collection: string, signal: AbortSignal): Promise<CollectionMembers> {
  let isComplete = true
  const unlessFailed = <Value>(reading: Promise<Value>) =>
    reading.catch(cause => {
      if (!(cause instanceof ServiceError && cause.status === 403)) isComplete = false
      return undefined
    })
  const definition = await unlessFailed(readSchema('collections', collection, signal))
  const declared = definition === undefined ? [] : signaturesOf(definition)
  const indexes = at(definition, 'indexes')
  const isOpen = !isMap(at(definition, 'fields')) || at(definition, 'wildcard') !== undefined
  const sampled = isOpen ? await unlessFailed(sampledFields(collection, signal)) : undefined
  return {
    isComplete,
    fields: new Map([...(sampled ?? []), ...declared]),
    indexes: new Map(
      (isMap(indexes) ? [...indexes] : []).map(([name, index]) => {
        const terms = listAt(index, 'terms').map(term => textAt(term, 'field') ?? '')
        return [name, `(${terms.join(', ')})`]
      }),
    ),
  }
}

/** The query returns only the names of the fields, because documents may be megabytes long. */
async function sampledFields(collection: string, signal: AbortSignal) {
  const page = pageOf({ documents: { collection } }, sampleSize)
  const data = { to_array: { select: ['data'], from: { get: variable() }, default: { object: {} } } }
  const names = mapping(data, { select: 0n, from: variable('field') }, 'field')
  const { value } = await read(mapping(page, names), signal)
  const found = listAt(value, 'data').flatMap(each => listAt(each).map(String))
  return new Map(found.map(name => [name, anySignature]))
}
