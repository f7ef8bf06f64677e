// Compare-and-set writes: a write succeeds only if the stored document is still the version that was read. The check
// and the write are one transaction, so no change of another client is overwritten.

import { at, type Json, type Query } from '../wire/json.ts'
import { write } from './data.ts'

/** `theirs`: the stored document. */
type WriteOutcome =
  | { readonly kind: 'done'; readonly value: Json }
  | { readonly kind: 'changed'; readonly theirs: Json }
  | { readonly kind: 'gone' }

/** Runs `change` if the document at `ref` still has the transaction time `readAt`. Returns what has happened. */
export function checkedQuery(ref: Query, readAt: Json, change: Query): Query {
  const isSame: Query = { equals: [{ select: 'ts', from: { get: ref } }, readAt] }
  return {
    if: { exists: ref },
    then: { if: isSame, then: { object: { done: change } }, else: { object: { changed: { get: ref } } } },
    else: { object: { gone: true } },
  }
}

/** Writes only if no other client has changed or deleted the document since it was read. Returns what has happened. */
export async function writeChecked(
  ref: Query,
  readAt: Json,
  change: Query,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const { value } = await write(checkedQuery(ref, readAt, change), signal)
  const done = at(value, 'done')
  if (done !== undefined) return { kind: 'done', value: done }
  const theirs = at(value, 'changed')
  return theirs === undefined ? { kind: 'gone' } : { kind: 'changed', theirs }
}

export type SaveOutcome<V> =
  | { readonly kind: 'saved'; readonly version: V }
  | { readonly kind: 'conflict'; readonly theirs: V }
  | { readonly kind: 'gone' }

/** Another client has changed the object that the page shows. */
export class ChangedError extends Error {
  override name = 'ChangedError'

  constructor() {
    super(
      'Another user has changed this object since you opened it. Your change was not made. Check the current version, then try again.',
    )
  }
}

/**
 * Throws {@link ChangedError} if another client has changed the document since it was read. Succeeds if another client
 * has already deleted it.
 */
export async function deleteChecked(ref: Query, readAt: Json, signal: AbortSignal): Promise<void> {
  // The result is `true`, because the deleted document may be megabytes long.
  const change: Query = { do: [{ delete: ref }, true] }
  const { kind } = await writeChecked(ref, readAt, change, signal)
  if (kind === 'changed') throw new ChangedError()
}
