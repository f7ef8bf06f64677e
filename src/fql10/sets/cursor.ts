// Encodes set cursors as text: the set, the position of the next element, the snapshot time of the first page, and the
// page size.

import { nearestMicros } from '../../base/micros.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/failure.ts'
import { SetValue } from '../value.ts'
import type { SetPosition } from './items.ts'
import { NotSaved, Reviver } from './reviver.ts'
import { saved } from './saved-values.ts'
import { seal, unseal } from './sealed.ts'
import { type LazySet, lazy } from './lazy-set.ts'

/** The start of a page. */
export interface PageStart {
  readonly set: LazySet
  readonly from: SetPosition | undefined
  /** The snapshot time of the query that returned the first page. */
  readonly time: number
  readonly size: number
}

/** Encodes a cursor as text. */
export function sealCursor({ set, from, time, size }: PageStart, call: Call): string {
  const place = from === undefined ? [] : [from]
  const value = [saved(set), BigInt(time), BigInt(size), ...place]
  // A position may contain times of uncommitted writes, which are still unknown. The snapshot time replaces them.
  return seal('set cursor', value, call.evaluation.world.cursorKey, nearestMicros(time))
}

/** Decodes a cursor. Undefined for a text that is not a valid cursor, or no longer valid. */
export function openCursor(text: string, call: Call): PageStart | undefined {
  const opened = unseal(text, call.evaluation.world.cursorKey)
  if (opened?.kind !== 'set cursor') return undefined
  const [set, time, size, from] = opened.value as readonly StoredValue[]
  try {
    const revived = new Reviver(call, Number(time)).value(set as StoredValue)
    if (!(revived instanceof SetValue)) return undefined
    return { set: lazy(revived), from, time: Number(time), size: Number(size) }
  } catch (error) {
    const isRefused = error instanceof QueryFailure && error.code === 'permission_denied'
    if (error instanceof NotSaved || (error instanceof QueryFailure && !isRefused)) return undefined
    throw error
  }
}
