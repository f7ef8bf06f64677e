// Encodes event sources as tokens, and places in their events as text. A token contains its creation time, the
// database, the set and the watched fields. It grants no rights.

import { Buffer } from 'node:buffer'
import { nearestMicros } from '../../base/micros.ts'
import { isArray, type Micros, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { Reviver } from '../sets/reviver.ts'
import { saved, seal, unseal } from '../sets/saved-values.ts'
import { EventSource } from '../value.ts'

/** A decoded token whose source is not decoded yet. */
export interface SourceToken {
  /** The source returns events of later transactions. */
  readonly start: Micros
  readonly database: bigint
  readonly source: StoredValue
}

export function tokenOf(source: EventSource, call: Call): string {
  const { sealing } = call.evaluation.world
  const start = sealing.resultTime()
  return seal('event source', [sealing.database, BigInt(start), saved(source)], sealing.sourceKey, start)
}

/** Decodes a token. Returns undefined for a text that this service has not created. */
export function openToken(text: string, key: Uint8Array): SourceToken | undefined {
  const opened = unseal(text, key)
  if (opened?.kind !== 'event source' || !isArray(opened.value)) return undefined
  const [database, start, source] = opened.value
  return { database: database as bigint, start: nearestMicros(Number(start)), source: source ?? null }
}

/**
 * Returns undefined if the token contains another value. Throws RevivalError if a collection or function of the source
 * was deleted, and the failures of calls of index functions.
 */
export function sourceIn({ source }: SourceToken, call: Call): EventSource | undefined {
  const revived = new Reviver(call, undefined).value(source)
  return revived instanceof EventSource ? revived : undefined
}

/** The place after an event: `time` is the commit time of its transaction, `ordinal` its number within it. */
export interface EventPlace {
  readonly time: Micros
  readonly ordinal: number
}

/** The ordinal of the place after all events of a transaction. */
export const wholeTransaction = 0xffff_ffff

/** Distinguishes places from sealed data (../sets/saved-values.ts). Clients store the number, so it never changes. */
const formatNumber = 4

const ordinalAt = 9
const checkAt = 13
const placeBytes = 15

const scratch = Buffer.alloc(placeBytes)

/**
 * The bytes are the format number, the time as a double, the ordinal as 32 bits, and a checksum of 16 bits, all in
 * base64url. There is no authentication code, because events are filtered by the rights of the caller: a forged place
 * gives a client no more access than `start_ts`, which every client may send. Checking a code would take longer than
 * finding the event.
 */
export function placeText({ ordinal, time }: EventPlace): string {
  scratch[0] = formatNumber
  scratch.writeDoubleBE(time, 1)
  scratch.writeUInt32BE(ordinal, ordinalAt)
  scratch.writeUInt16BE(checkOf(scratch), checkAt)
  return scratch.toString('base64url')
}

/** Decodes a place. Returns undefined for a text that does not have the form of {@link placeText}. */
export function placeIn(text: string): EventPlace | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== placeBytes || bytes[0] !== formatNumber) return undefined
  const time = bytes.readDoubleBE(1)
  if (!Number.isSafeInteger(time) || bytes.readUInt16BE(checkAt) !== checkOf(bytes)) return undefined
  return { time: nearestMicros(time), ordinal: bytes.readUInt32BE(ordinalAt) }
}

/** FNV-1a over the bytes before the checksum, folded to 16 bits. */
function checkOf(bytes: Buffer): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < checkAt; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return ((hash >>> 16) ^ hash) & 0xffff
}
