// The local copy of the record that a node reads: a key-value store fed by the log, with a note of how far it has come.
// Several processes of one node may feed the same copy; each batch is applied once, in order.

import { assert } from '../../../base/assert.ts'
import { epoch, type Micros } from '../../../base/micros.ts'
import { decodeBatch } from '../batch.ts'
import type { Bytes, Entry, ForeignBatch, KeyRange, KeyValueStore, View, Work, Write } from '../contract.ts'
import type { LogRow } from './record.ts'

/** How far a copy has come: the newest batch in it, by its number and the name that its row of the log has. */
export interface Progress {
  readonly seq: number
  /** Empty at number 0, which has no row. */
  readonly batch: string
}

/**
 * What a copy proves of itself. It is written in the transaction of the data that it describes; entries without it are no
 * copy of anything.
 */
export interface CopyNote extends Progress {
  readonly storeId: string
  /** The system's start in which this was written; absent where systems do not tell. */
  readonly boot?: string | undefined
  /** False while the state is being copied: the batch is then the one from which on the log is redone. */
  readonly isComplete: boolean
}

/** Key of the note. It is the copy's own: {@link ReplicaView} hides it. */
const noteKey: Bytes = Buffer.from('\0progress of the replica')

/** True for the key that no transaction may write. */
export function isReserved(key: Bytes): boolean {
  return key[0] === 0 && Buffer.compare(key, noteKey) === 0
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

/** The note of a copy; undefined when there is none. */
export function noteIn(view: Pick<View, 'get'>): CopyNote | undefined {
  const stored = view.get(noteKey)
  return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored).toString()) as CopyNote)
}

/** The note in the newest state of a copy. */
export function readNote(local: KeyValueStore): CopyNote | undefined {
  return local.read(noteIn)
}

/** The note as a write. */
export function noteWrite(note: CopyNote): Write {
  return { key: noteKey, value: Buffer.from(JSON.stringify(note)) }
}

/** Takes the note out: what is left is a store of its own. */
export async function removeNote(local: KeyValueStore): Promise<void> {
  await local.transact(() => ({ result: undefined, writes: [{ key: noteKey, value: undefined }] }))
}

/** A batch that was applied. */
export interface AppliedRow extends ForeignBatch {
  readonly batch: string
}

/** How far a copy has come, and by which batches. */
interface Applied extends Progress {
  readonly rows: readonly AppliedRow[]
}

/**
 * Applies batches that follow each other to the copy; those it already has are passed over. Resolves with how far the
 * copy has come, which is less than the last batch when they do not follow what the copy has, or are of another past.
 * `newestTime` tells the time of the newest commit in a state.
 */
export function applyRows(
  local: KeyValueStore,
  rows: readonly LogRow[],
  newestTime: (view: Pick<View, 'get'>) => Micros = () => epoch,
): Promise<Applied> {
  return local.transact((view): Work<Applied> => {
    const before = noteIn(view)
    assert(before?.isComplete === true, 'batches are applied to a copy that is complete')
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

/** Single keys of the state that writes make of another one. */
function stateAfter(state: Pick<View, 'get'>, writes: readonly Write[]): Pick<View, 'get'> {
  return {
    get: key => {
      const write = writes.findLast(each => Buffer.compare(each.key, key) === 0)
      return write === undefined ? state.get(key) : write.value
    },
  }
}
