// Cursors as text: the set, the place where it goes on, the snapshot of the first page and the size, with a proof that this
// service has made it. Bytes: a version, the stored value, 16 bytes of proof; all of it as base64url.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { decodeValue, encodeValue } from '../../keys/value-codec.ts'
import { encodeBase64Url } from '../../values/base64.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/failure.ts'
import { SetValue } from '../value.ts'
import { NotSaved, Reviver } from './reviver.ts'
import { saved } from './saved-values.ts'
import { type LazySet, lazy, type Place } from './set.ts'

/** Where a page begins. */
export interface PageStart {
  readonly set: LazySet
  readonly from: Place | undefined
  /** The snapshot of the query that gave the first page. */
  readonly time: number
  readonly size: number
}

const version = 1
const proofBytes = 16

/** The text of a cursor. */
export function sealCursor({ set, from, time, size }: PageStart, call: Call): string {
  const place = from === undefined ? [] : [from]
  // A place within a cursor is stored by the commit time of nothing: values of this query that are not committed have none.
  const body = encodeValue([saved(set), BigInt(time), BigInt(size), ...place], time)
  const head = Buffer.concat([Buffer.of(version), body])
  return encodeBase64Url(Buffer.concat([head, proofOf(head, call)]))
}

/** What a cursor stands for; undefined for a text that is none, or not any more. */
export function openCursor(text: string, call: Call): PageStart | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const end = bytes.length - proofBytes
  if (end < 2 || bytes[0] !== version) return undefined
  const head = bytes.subarray(0, end)
  if (!timingSafeEqual(bytes.subarray(end), proofOf(head, call))) return undefined
  const [set, time, size, from] = decodeValue(bytes, 1, end) as readonly StoredValue[]
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

function proofOf(head: Uint8Array, call: Call): Buffer {
  return createHmac('sha256', call.evaluation.world.cursorKey).update(head).digest().subarray(0, proofBytes)
}
