// Cursors of sets as text: the set, the place where it goes on, the snapshot of the first page and the size.

import { nearestMicros } from '../../base/micros.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/failure.ts'
import { SetValue } from '../value.ts'
import type { SetPosition } from './items.ts'
import { NotSaved, Reviver } from './reviver.ts'
import { saved } from './saved-values.ts'
import { seal, unseal } from './sealed.ts'
import { type LazySet, lazy } from './set.ts'

/** Where a page begins. */
export interface PageStart {
  readonly set: LazySet
  readonly from: SetPosition | undefined
  /** The snapshot of the query that gave the first page. */
  readonly time: number
  readonly size: number
}

/** The text of a cursor. */
export function sealCursor({ set, from, time, size }: PageStart, call: Call): string {
  const place = from === undefined ? [] : [from]
  const value = [saved(set), BigInt(time), BigInt(size), ...place]
  // A place within a cursor is stored by the commit time of nothing: values of this query that are not committed have none.
  return seal('set cursor', value, call.evaluation.world.cursorKey, nearestMicros(time))
}

/** What a cursor stands for; undefined for a text that is none, or not any more. */
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
