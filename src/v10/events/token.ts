// Event sources and places in them as text. A source is a set as cursors keep it, with the fields that it follows, the
// database it was made in and the time of the query that made it; it carries no rights. A place is the time of a transaction
// and the number of an event in it.

import { nearestMicros } from '../../base/micros.ts'
import { isArray, type Micros, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { Reviver } from '../sets/reviver.ts'
import { saved } from '../sets/saved-values.ts'
import { seal, unseal } from '../sets/sealed.ts'
import { EventSource } from '../value.ts'

/** A place in the events of a source: behind the event of that number of the transaction at that time. */
export interface EventPlace {
  readonly time: Micros
  readonly ordinal: number
}

/** Behind all events of a transaction. */
export const wholeTransaction = Number.MAX_SAFE_INTEGER

/** A token as it is read: what is in it has not been looked at. */
export interface OpenedToken {
  /** When it was made; the events of later transactions follow. */
  readonly start: Micros
  readonly database: bigint
  readonly source: StoredValue
}

/** The text of an event source. */
export function tokenOf(source: EventSource, call: Call): string {
  const { eventSources } = call.evaluation.world
  const start = eventSources.resultTime()
  return seal('event source', [eventSources.database, BigInt(start), saved(source)], eventSources.key, start)
}

/** Reads a token; undefined for what is none, or was not made by this service. */
export function openToken(text: string, key: Uint8Array): OpenedToken | undefined {
  const opened = unseal(text, key)
  if (opened?.kind !== 'event source' || !isArray(opened.value)) return undefined
  const [database, start, source] = opened.value
  return { database: database as bigint, start: nearestMicros(Number(start)), source: source ?? null }
}

/** The source in a token. Throws NotSaved for one whose collection or functions are gone. */
export function sourceIn({ source }: OpenedToken, call: Call): EventSource | undefined {
  const revived = new Reviver(call, undefined).value(source)
  return revived instanceof EventSource ? revived : undefined
}

/** The text of a place. */
export function sealPlace({ ordinal, time }: EventPlace, key: Uint8Array): string {
  return seal('event cursor', [BigInt(time), BigInt(ordinal)], key, time)
}

/** The place in a text; undefined for what this service has not made. */
export function openPlace(text: string, key: Uint8Array): EventPlace | undefined {
  const opened = unseal(text, key)
  if (opened?.kind !== 'event cursor' || !isArray(opened.value)) return undefined
  return { time: nearestMicros(Number(opened.value[0])), ordinal: Number(opened.value[1]) }
}
