// Encodes event sources as tokens. A token contains the set, the watched fields, the database, and the time of the
// query that created it. It carries no rights.

import { nearestMicros } from '../../base/micros.ts'
import { isArray, type Micros, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { Reviver } from '../sets/reviver.ts'
import { saved } from '../sets/saved-values.ts'
import { seal, unseal } from '../sets/sealed.ts'
import { EventSource } from '../value.ts'

/** A decoded token whose source is not decoded yet. */
export interface OpenedToken {
  /** The creation time. The source returns events of later transactions. */
  readonly start: Micros
  readonly database: bigint
  readonly source: StoredValue
}

/** The token of an event source. */
export function tokenOf(source: EventSource, call: Call): string {
  const { world } = call.evaluation
  const start = world.sealing.resultTime()
  return seal(
    'event source',
    [world.sealing.database, BigInt(start), saved(source)],
    world.sealing.sourceKey,
    start,
  )
}

/** Decodes a token. Undefined for a text that this service has not created. */
export function openToken(text: string, key: Uint8Array): OpenedToken | undefined {
  const opened = unseal(text, key)
  if (opened?.kind !== 'event source' || !isArray(opened.value)) return undefined
  const [database, start, source] = opened.value
  return { database: database as bigint, start: nearestMicros(Number(start)), source: source ?? null }
}

/** Decodes the source in a token. Throws RevivalError if its collection or a function was deleted. */
export function sourceIn({ source }: OpenedToken, call: Call): EventSource | undefined {
  const revived = new Reviver(call, undefined).value(source)
  return revived instanceof EventSource ? revived : undefined
}
