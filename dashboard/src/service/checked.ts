// Writes that are checked against the version that was read: nothing of somebody else's is overwritten or deleted
// unseen. Check and write are one transaction.

import { at, type Json, type Query } from '../wire/json.ts'
import { write } from './data.ts'

/** The outcome of a checked write; `theirs` is the document as it is now. */
type Checked =
  | { readonly kind: 'done'; readonly value: Json }
  | { readonly kind: 'changed'; readonly theirs: Json }
  | { readonly kind: 'gone' }

/** `change`, if the document at `ref` still is the one that was read with the transaction time `readAt`. */
export function checkedQuery(ref: Query, readAt: Json, change: Query): Query {
  const isSame: Query = { equals: [{ select: 'ts', from: { get: ref } }, readAt] }
  return {
    if: { exists: ref },
    then: { if: isSame, then: { object: { done: change } }, else: { object: { changed: { get: ref } } } },
    else: { object: { gone: true } },
  }
}

/** Makes a change to a document that was read, unless somebody else has changed or deleted it since. */
export async function writeChecked(
  ref: Query,
  readAt: Json,
  change: Query,
  signal: AbortSignal,
): Promise<Checked> {
  const { value } = await write(checkedQuery(ref, readAt, change), signal)
  const done = at(value, 'done')
  if (done !== undefined) return { kind: 'done', value: done }
  const theirs = at(value, 'changed')
  return theirs === undefined ? { kind: 'gone' } : { kind: 'changed', theirs }
}

/** The outcome of saving a form. */
export type Saved<V> =
  | { readonly kind: 'saved'; readonly version: V }
  | { readonly kind: 'conflict'; readonly theirs: V }
  | { readonly kind: 'gone' }

/** What is shown has been changed by somebody else. */
export class ChangedError extends Error {
  override name = 'ChangedError'

  constructor() {
    super(
      'Somebody else has changed this since you opened it. Nothing was done. Look at it as it is now, then repeat this.',
    )
  }
}

/**
 * Deletes a document that was read. Throws {@link ChangedError} when somebody else has changed it since; who has deleted
 * it does not matter.
 */
export async function deleteChecked(ref: Query, readAt: Json, signal: AbortSignal): Promise<void> {
  const change: Query = { do: [{ delete: ref }, true] }
  const { kind } = await writeChecked(ref, readAt, change, signal)
  if (kind === 'changed') throw new ChangedError()
}
