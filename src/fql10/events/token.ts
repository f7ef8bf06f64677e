// Event sources as text: a set as cursors keep it, with the fields that it follows, the database it was made in and the
// time of the query that made it. It carries no rights.

import { nearestMicros } from '../../base/micros.ts'
import { isArray, type Micros, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { Reviver } from '../sets/reviver.ts'
import { saved } from '../sets/saved-values.ts'
import { seal, unseal } from '../sets/sealed.ts'
import { EventSource } from '../value.ts'

/** A token as it is read: what is in it has not been looked at. */
export interface OpenedToken {
  /** When it was made; the events of later transactions follow. */
  readonly start: Micros
  readonly database: bigint
  readonly source: StoredValue
}

/** The text of an event source. */
export function tokenOf(source: EventSource, call: Call): string {
  const { world } = call.evaluation
  const start = world.resultTime()
  return seal('event source', [world.database, BigInt(start), saved(source)], world.sourceKey, start)
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
