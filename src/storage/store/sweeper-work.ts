// Pending work for the sweeper (sweeper.ts), one row for each piece of work. The key of the row contains the kind of
// the work, the time at which it is due, and its target.

import { micros } from '../../base/micros.ts'
import type { Micros, Ref } from '../../values/value.ts'
import { decodeKeyOf } from '../keys/key-reader.ts'
import { type GarbageKind, garbageKey, garbageRange } from '../keys/keyspace.ts'
import type { Bytes, View } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { lastCommit } from './last-commit.ts'
import { never } from './records.ts'

export interface SweeperWork {
  readonly key: Bytes
  /** The schema object that the work concerns, or the document with revocations of tokens (token-revocation.ts). */
  readonly target: Ref
}

const present = new Uint8Array([1])

export function recordWork(
  overlay: Overlay,
  kind: GarbageKind,
  due: Micros,
  target: Ref,
  journal?: Journal,
): void {
  overlay.set(garbageKey(kind, due, target), present, journal)
}

/** Due at or before `due`, or all, oldest first. */
export function* workOf(
  view: View,
  kind: GarbageKind,
  due: Micros = micros(never - 1),
  limit: number = Number.POSITIVE_INFINITY,
  from?: Bytes,
): Generator<SweeperWork> {
  const range = garbageRange(kind, due)
  for (const { key } of view.range({ ...range, start: from ?? range.start, limit }))
    yield { key, target: decodeKeyOf('garbage', key).target }
}

/**
 * Reads the oldest removals of deleted objects. Continues at the oldest removal of the last read, because a read from
 * the start would skip all finished removals which LMDB still contains.
 */
export class RemovalCursor {
  #from: Bytes | undefined

  read(view: View, limit: number): readonly SweeperWork[] {
    const found = [...workOf(view, 'object', undefined, limit, this.#from)]
    // A removal is due at the commit time of its transaction, so later transactions add only later removals.
    this.#from = found[0]?.key ?? garbageRange('object', lastCommit(view).time).end
    return found
  }

  /** The next read begins at the start. */
  reset(): void {
    this.#from = undefined
  }
}
