// A node reads its replica: a key-value store that is updated from the log in PostgreSQL. A note in the replica
// contains the number of its newest batch in the log. Several processes of one node may update the same replica; each
// batch is applied once, in order.

import { assert } from '../../base/assert.ts'
import { epoch, type Micros } from '../../base/micros.ts'
import { decodeBatch } from '../kv/batch.ts'
import type { Bytes, Entry, KeyRange, KeyValueStore, View, Work, Write } from '../kv/kv-contract.ts'
import type { ForeignBatch } from '../kv/replicated-store.ts'
import type { LogRow } from './record.ts'

/** The number and the name of the replica's newest batch, as in the log row. */
export interface Progress {
  readonly seq: number
  /** Empty for number 0, the state before the first batch. */
  readonly batch: string
}

/**
 * The note of a replica: its store, the newest batch that it contains, and whether it is complete. It is written in the
 * same transaction as the data. Data without a note is not a replica.
 */
export interface ReplicaNote extends Progress {
  readonly storeId: string
  /** The boot id of the machine when the note was written; absent on systems without boot ids. */
  readonly boot?: string | undefined
  /** False while the state is being copied. After the copy, the log must be applied, beginning after batch `seq`. */
  readonly isComplete: boolean
}

/** The note is not data of the store, so {@link ReplicaView} hides it. */
const noteKey: Bytes = Buffer.from('\0progress of the replica')

/** No transaction may write the key of the note. */
export function isReserved(key: Bytes): boolean {
  return key[0] === 0 && Buffer.compare(key, noteKey) === 0
}

/** A view of the replica without the note. */
export class ReplicaView implements View {
  readonly #view: View

  constructor(view: View) {
    this.#view = view
  }

  get(key: Bytes, cached?: Bytes): Bytes | undefined {
    return isReserved(key) ? undefined : this.#view.get(key, cached)
  }

  range(range: KeyRange): Iterable<Entry> {
    // Keys of data begin with a letter, so ranges of data do not contain the note.
    const first = range.start[0]
    if (first !== undefined && first !== 0) return this.#view.range(range)
    const { limit = Number.POSITIVE_INFINITY, ...all } = range
    return {
      [Symbol.iterator]: () =>
        Iterator.from(this.#view.range(all))
          .filter(({ key }) => !isReserved(key))
          .take(limit),
    }
  }
}

/** Returns undefined when there is no note. */
export function noteIn(view: Pick<View, 'get'>): ReplicaNote | undefined {
  const stored = view.get(noteKey)
  return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored).toString()) as ReplicaNote)
}

/** The note in the newest state of a replica. */
export function readNote(local: KeyValueStore): ReplicaNote | undefined {
  return local.read(noteIn)
}

export function noteWrite(note: ReplicaNote): Write {
  return { key: noteKey, value: Buffer.from(JSON.stringify(note)) }
}

/** Removes the note. Without a note, the data is an independent store. */
export async function removeNote(local: KeyValueStore): Promise<void> {
  await local.transact(() => ({ result: undefined, writes: [{ key: noteKey, value: undefined }] }))
}

export interface AppliedRow extends ForeignBatch {
  readonly batch: string
}

interface AppliedProgress extends Progress {
  readonly rows: readonly AppliedRow[]
}

/**
 * Applies consecutive batches, and resolves with the newest batch that the replica now contains. Skips batches that the
 * replica already contains, that do not directly follow its newest batch, or that belong to another history. So the
 * newest batch may be before the last of `rows`. `newestTime` returns the time of the newest commit in a state.
 */
export function applyRows(
  local: KeyValueStore,
  rows: readonly LogRow[],
  newestTime: (view: Pick<View, 'get'>) => Micros = () => epoch,
): Promise<AppliedProgress> {
  return local.transact((view): Work<AppliedProgress> => {
    const before = noteIn(view)
    assert(before?.isComplete === true, 'batches are applied to a complete replica')
    let { seq, batch } = before
    let state: Pick<View, 'get'> = view
    const applied: AppliedRow[] = []
    for (const row of rows) {
      if (row.seq !== seq + 1 || row.before !== batch) continue
      const writes = decodeBatch(row.body)
      applied.push({ batch: row.batch, after: newestTime(state), writes })
      state = stateAfter(state, writes)
      seq = row.seq
      batch = row.batch
    }
    if (seq === before.seq) return { result: { seq, batch, rows: [] }, writes: [] }
    const writes = applied.flatMap(row => row.writes)
    return {
      result: { seq, batch, rows: applied },
      writes: [...writes, noteWrite({ ...before, seq, batch })],
    }
  })
}

/** Returns the state after `writes` are applied to `state`, for reads of single keys. */
function stateAfter(state: Pick<View, 'get'>, writes: readonly Write[]): Pick<View, 'get'> {
  return {
    get: key => {
      const write = writes.findLast(each => Buffer.compare(each.key, key) === 0)
      return write === undefined ? state.get(key) : write.value
    },
  }
}
