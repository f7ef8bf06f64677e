// The local copy of the record that a node reads: a key-value store fed by the log, with a note of how far it has come.
// Several processes of one node may feed the same copy; each batch is applied once, in order.

import { assert } from '../../base/assert.ts'
import type { Bytes, Entry, ForeignBatch, KeyRange, KeyValueStore, View, Work, Write } from '../contract.ts'
import { decodeBatch } from './batch.ts'
import type { LogRow } from './record.ts'

/** How far a copy has come: the newest batch in it. */
export interface Progress {
  readonly seq: number
  readonly batch: string
}

/** Key of the note. It is the copy's own: {@link ReplicaView} hides it. */
const progressKey: Bytes = Buffer.from('\0progress of the replica')

/** True for the key that no transaction may write. */
export function isReserved(key: Bytes): boolean {
  return key[0] === 0 && Buffer.compare(key, progressKey) === 0
}

/** A view of the copy without the note. */
export class ReplicaView implements View {
  readonly #view: View

  constructor(view: View) {
    this.#view = view
  }

  get(key: Bytes, known?: Bytes): Bytes | undefined {
    return isReserved(key) ? undefined : this.#view.get(key, known)
  }

  range(range: KeyRange): Iterable<Entry> {
    // Keys of data begin with a letter, so their ranges pass here.
    const first = range.start[0]
    if (first !== undefined && first !== 0) return this.#view.range(range)
    return { [Symbol.iterator]: () => withoutNote(this.#view, range) }
  }
}

function* withoutNote(view: View, { start, end, reverse = false, limit }: KeyRange): Generator<Entry> {
  let left = limit ?? Number.POSITIVE_INFINITY
  if (left <= 0) return
  for (const entry of view.range({ start, end, reverse })) {
    if (isReserved(entry.key)) continue
    yield entry
    if (--left === 0) return
  }
}

const nothing: Progress = { seq: 0, batch: '' }

/** How far the copy has come, as a view shows it. */
export function progressOf(view: View): Progress {
  const stored = view.get(progressKey)
  if (stored === undefined) return nothing
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  return { seq: Number(bytes.readBigUInt64BE(0)), batch: bytes.toString('latin1', 8) }
}

/** The note as a write. */
export function progressWrite({ seq, batch }: Progress): Write {
  const value = Buffer.alloc(8 + batch.length)
  value.writeBigUInt64BE(BigInt(seq))
  value.write(batch, 8, 'latin1')
  return { key: progressKey, value }
}

/** A batch that was applied. */
interface AppliedRow extends ForeignBatch {
  readonly batch: string
}

/** How far a copy has come, and by which batches. */
interface Applied extends Progress {
  readonly rows: readonly AppliedRow[]
}

/**
 * Applies batches that follow each other to the copy; those it already has are passed over. Resolves with how far the
 * copy has come, which is less than the last batch when the first one does not follow what the copy has. `newestTime` tells
 * the time of the newest commit in a state.
 */
export function applyRows(
  local: KeyValueStore,
  rows: readonly LogRow[],
  newestTime: (view: Pick<View, 'get'>) => number = () => 0,
): Promise<Applied> {
  return local.transact((view): Work<Applied> => {
    const before = progressOf(view)
    let { seq, batch } = before
    let state: Pick<View, 'get'> = view
    const applied: AppliedRow[] = []
    for (const row of rows) {
      if (row.seq !== seq + 1) continue
      const writes = decodeBatch(row.body)
      applied.push({ batch: row.batch, after: newestTime(state), writes })
      state = stateAfter(state, writes)
      seq = row.seq
      batch = row.batch
    }
    if (seq === before.seq) return { result: { ...before, rows: [] }, writes: [] }
    const writes = applied.flatMap(row => row.writes)
    return { result: { seq, batch, rows: applied }, writes: [...writes, progressWrite({ seq, batch })] }
  })
}

/** Single keys of the state that writes make of another one. */
function stateAfter(state: Pick<View, 'get'>, writes: readonly Write[]): Pick<View, 'get'> {
  return {
    get: key => {
      const write = writes.findLast(each => Buffer.compare(each.key, key) === 0)
      return write === undefined ? state.get(key) : write.value
    },
  }
}

/** Takes the note out: what is left is a store of its own. */
export async function removeProgress(local: KeyValueStore): Promise<void> {
  await local.transact(() => ({ result: undefined, writes: [{ key: progressKey, value: undefined }] }))
}

/** The newest state of the copy. */
export function readProgress(local: KeyValueStore): Progress {
  return local.read(progressOf)
}

/** Throws unless the copy holds what was committed up to `seq`. */
export function assertReached(progress: Progress, seq: number): void {
  assert(progress.seq >= seq, 'the local copy has come as far as the head')
}
