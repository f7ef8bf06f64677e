// Pending work that transactions record for the sweeper: rows with its kind, its due time and its subject.

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
  /** The schema object or the document that the work concerns. */
  readonly target: Ref
}

const present = new Uint8Array([1])

/** Records work that is due at a time. */
export function recordWork(
  overlay: Overlay,
  kind: GarbageKind,
  due: Micros,
  target: Ref,
  journal?: Journal,
): void {
  overlay.set(garbageKey(kind, due, target), present, journal)
}

/** The work of one kind that is due at a time, oldest first; by default all work. Lazy. */
export function* workOf(
  view: View,
  kind: GarbageKind,
  due: Micros = micros(never - 1),
  limit: number = Number.POSITIVE_INFINITY,
): Generator<SweeperWork> {
  for (const { key } of view.range({ ...garbageRange(kind, due), limit }))
    yield { key, target: decodeKeyOf('garbage', key).target }
}
