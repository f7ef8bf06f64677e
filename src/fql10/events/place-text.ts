// Places among the events of a source as text. A place gives no more than the `start_ts` that every caller may send:
// events are told with the rights of the caller, whatever the place. So it carries no proof, which for each event of a page would
// cost more than finding the event, only a check that tells texts that are none. Bytes: a version, the time as a double, the
// number as 32 bits, 16 bits of check; all of it as base64url.

import { Buffer } from 'node:buffer'
import { nearestMicros } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'

/** A place in the events of a source: behind the event of that number of the transaction at that time. */
export interface EventPlace {
  readonly time: Micros
  readonly ordinal: number
}

/** Behind all events of a transaction. */
export const wholeTransaction = 0xffff_ffff

/** Beside the versions of what is sealed (../sets/sealed.ts): it stands in texts that clients keep. */
const version = 4

const ordinalAt = 9
const checkAt = 13
const placeBytes = 15

const scratch = Buffer.alloc(placeBytes)

/** The text of a place. */
export function placeText({ ordinal, time }: EventPlace): string {
  scratch[0] = version
  scratch.writeDoubleBE(time, 1)
  scratch.writeUInt32BE(ordinal, ordinalAt)
  scratch.writeUInt16BE(checkOf(scratch), checkAt)
  return scratch.toString('base64url')
}

/** The place in a text that {@link placeText} has made; undefined for any other. */
export function placeIn(text: string): EventPlace | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== placeBytes || bytes[0] !== version) return undefined
  const time = bytes.readDoubleBE(1)
  if (!Number.isSafeInteger(time) || bytes.readUInt16BE(checkAt) !== checkOf(bytes)) return undefined
  return { time: nearestMicros(time), ordinal: bytes.readUInt32BE(ordinalAt) }
}

/** The hash of Fowler, Noll and Vo over what stands before it, folded to 16 bits. */
function checkOf(bytes: Buffer): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < checkAt; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return ((hash >>> 16) ^ hash) & 0xffff
}
