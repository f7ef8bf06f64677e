// Changes of many documents, in transactions of some each; and of one field of one document, unless somebody else has
// changed it since it was read.

import type { Json, Query } from '../wire/json.ts'
import { documentRef, literal, type RefName } from '../wire/refs.ts'
import type { Row } from '../wire/rows.ts'
import { ChangedError, writeChecked } from './checked.ts'
import { write } from './data.ts'
import { ServiceError } from './faults.ts'

/** A document that could not be changed. */
interface Refused {
  readonly ref: RefName
  readonly reason: string
}

/** What became of a change of many documents. */
export interface Changed {
  readonly done: number
  readonly refused: readonly Refused[]
}

const batchSize = 100
const limitedDelayMs = 1000

/** What is done to each document, as an expression over its reference. */
export type ChangeOf = (ref: Query) => Query

/** Deletes a document. */
export const deletion: ChangeOf = ref => ({ delete: ref })

/** Sets a field to a value; null takes it away. */
export function settingOf(path: readonly string[], value: Json): ChangeOf {
  const nested = path.reduceRight<Query>((inner, name) => ({ object: { [name]: inner } }), literal(value))
  return ref => ({ update: ref, params: { object: { data: nested } } })
}

/** Changes documents. One that is refused hinders no other; one that is gone is passed over. */
export async function changeEach(
  refs: readonly RefName[],
  change: ChangeOf,
  onProgress: (changed: Changed) => void,
  signal: AbortSignal,
): Promise<Changed> {
  let changed: Changed = { done: 0, refused: [] }
  for (let from = 0; from < refs.length; from += batchSize) {
    const { done, refused } = await changeSome(refs.slice(from, from + batchSize), change, signal)
    changed = { done: changed.done + done, refused: [...changed.refused, ...refused] }
    onProgress(changed)
  }
  return changed
}

async function changeSome(refs: readonly RefName[], change: ChangeOf, signal: AbortSignal): Promise<Changed> {
  const each = refs.map(({ collection, id }) => {
    const ref = documentRef(collection, id)
    return { if: { exists: ref }, then: change(ref), else: null }
  })
  try {
    await write({ do: [...each, null] }, signal)
    return { done: refs.length, refused: [] }
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    if (cause.status === 429) {
      await new Promise(resolve => setTimeout(resolve, limitedDelayMs))
      return changeSome(refs, change, signal)
    }
    const isOfDocuments = cause.status >= 400 && cause.status < 500 && cause.status !== 401
    const [ref] = refs
    if (!isOfDocuments || ref === undefined) throw cause
    if (refs.length === 1) return { done: 0, refused: [{ ref, reason: reasonOf(cause) }] }
    const half = refs.length >> 1
    const first = await changeSome(refs.slice(0, half), change, signal)
    const second = await changeSome(refs.slice(half), change, signal)
    return { done: first.done + second.done, refused: [...first.refused, ...second.refused] }
  }
}

function reasonOf(error: ServiceError): string {
  const failures = error.faults
    .flatMap(fault => fault.failures)
    .map(({ field, description }) => `${field}: ${description}`)
  return [error.message, ...failures].join(' ')
}

/** Sets one field of a document that was read as `row`. Throws {@link ChangedError} when somebody else has changed it since. */
export async function saveField(row: Row, name: string, value: Json, signal: AbortSignal): Promise<void> {
  if (row.ref === undefined) return
  const ref = documentRef(row.ref.collection, row.ref.id)
  const update: Query = { select: 'ts', from: settingOf([name], value)(ref) }
  const { kind } = await writeChecked(ref, row.ts ?? null, update, signal)
  if (kind === 'changed') throw new ChangedError()
  if (kind === 'gone') throw new Error('The document has been deleted meanwhile.')
}
