// Records pending work for the sweeper (sweeper.ts), one row for each piece of work. The key of the row contains the
// kind of the work, the time at which the work is due, and the schema object that the work concerns.

import { micros } from '../../base/micros.ts'
import type { Micros, Ref } from '../../values/value.ts'
import { decodeKeyOf } from '../keys/key-reader.ts'
import { type GarbageKind, garbageKey, garbageRange } from '../keys/keyspace.ts'
import type { Bytes, View } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { never } from './records.ts'

/** Pending work. */
export interface SweeperWork {
  readonly key: Bytes
  /** The schema object that the work concerns. */
  readonly target: Ref
}

const present = new Uint8Array([1])

/** Records work that is due at the time `due`. */
export function recordWork(
  overlay: Overlay,
  kind: GarbageKind,
  due: Micros,
  target: Ref,
  journal?: Journal,
): void {
  overlay.set(garbageKey(kind, due, target), present, journal)
}

/** Yields the work of one kind that is due at or before `due`, oldest first. If `due` is undefined, yields all work. */
export function* workOf(
  view: View,
  kind: GarbageKind,
  due: Micros = micros(never - 1),
  limit: number = Number.POSITIVE_INFINITY,
): Generator<SweeperWork> {
  for (const { key } of view.range({ ...garbageRange(kind, due), limit }))
    yield { key, target: decodeKeyOf('garbage', key).target }
}
