// Holds the records that the target of a continuous backup does not contain yet. Collects records for at most one
// second, then compresses them into a piece.

import { assert } from '../base/assert.ts'
import { megabyte } from '../base/bytes.ts'
import type { Micros } from '../base/micros.ts'
import type { Cancel, Timers } from '../base/timers.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import { commitsIn, packObject, recordsIn } from './object-format.ts'

/** Milliseconds for which records are collected. */
const sealAfterMs = 1_000
/** Number of collected bytes at which a piece is created immediately. */
const sealBytes = 8 * megabyte

/** Consecutive records, ready to be written. */
export interface Piece {
  /** The compressed records. */
  readonly object: Buffer
  /** The sequence number of the first record. */
  readonly first: number
  /** The checksum of the record before the first record. */
  readonly before: number
  /** The last record. */
  readonly place: ChainPlace
  /** Checksum of each record. */
  readonly checksums: Uint32Array
  /** Times of the oldest and the newest commit; undefined when the records contain no commit. */
  readonly times: { readonly since: Micros; readonly time: Micros } | undefined
  /** Arrival of the first record, in milliseconds of the monotonic clock. */
  readonly arrivedMs: number
}

interface QueueOptions {
  /** The record before the first record that is added. */
  readonly place: ChainPlace
  readonly timers: Timers
  readonly elapsedMs: () => number
  readonly onPiece: () => void
}

export class PieceQueue {
  readonly #options: QueueOptions
  #collected: Buffer[] = []
  #collectedBytes = 0
  #collectedSinceMs = 0
  #pieces: Piece[] = []
  #pieceBytes = 0
  /** Bytes of records that are being compressed. */
  #compressingBytes = 0
  #sealed: Promise<void> = Promise.resolve()
  #cancelSeal: Cancel | undefined
  #place: ChainPlace
  /** The record before the oldest pending record. */
  #start: ChainPlace
  /** Incremented by `clear`, to drop the records that are being compressed. */
  #clearCount = 0

  constructor(options: QueueOptions) {
    this.#options = options
    this.#place = options.place
    this.#start = options.place
  }

  /** The newest record that was added. */
  get place(): ChainPlace {
    return this.#place
  }

  /** Counts pieces with their compressed size. */
  get bytes(): number {
    return this.#collectedBytes + this.#compressingBytes + this.#pieceBytes
  }

  get isEmpty(): boolean {
    return this.bytes === 0
  }

  /**
   * Arrival of the oldest pending record, in milliseconds of the monotonic clock; undefined when no record is pending.
   */
  get sinceMs(): number | undefined {
    return this.#pieces[0]?.arrivedMs ?? (this.isEmpty ? undefined : this.#collectedSinceMs)
  }

  get next(): Piece | undefined {
    return this.#pieces[0]
  }

  /**
   * Adds complete records, from the first one after `before` to the one at `place`. If they do not continue the pending
   * records, first drops the pending records, and returns false.
   */
  add(records: Buffer, before: ChainPlace, place: ChainPlace): boolean {
    const follows = before.sequence === this.#place.sequence && before.checksum === this.#place.checksum
    if (!follows) this.clear(before)
    if (this.#collected.length === 0) {
      this.#collectedSinceMs = this.#options.elapsedMs()
      this.#cancelSeal = this.#options.timers.after(sealAfterMs, () => void this.seal())
    }
    this.#collected.push(records)
    this.#collectedBytes += records.length
    this.#place = place
    if (this.#collectedBytes >= sealBytes) void this.seal()
    return follows
  }

  /** Compresses the collected records. Resolves when all pieces are ready. */
  seal(): Promise<void> {
    this.#cancelSeal?.()
    if (this.#collected.length === 0) return this.#sealed
    const records = this.#collected
    const bytes = this.#collectedBytes
    const arrivedMs = this.#collectedSinceMs
    const clearCount = this.#clearCount
    this.#collected = []
    this.#collectedBytes = 0
    this.#compressingBytes += bytes
    this.#sealed = this.#sealed.then(async () => {
      const piece = await pieceOf(Buffer.concat(records), arrivedMs)
      if (clearCount !== this.#clearCount) return
      this.#compressingBytes -= bytes
      this.#pieces.push(piece)
      this.#pieceBytes += piece.object.length
      this.#options.onPiece()
    })
    return this.#sealed
  }

  shift(): void {
    const piece = this.#pieces.shift()
    if (piece === undefined) return
    this.#pieceBytes -= piece.object.length
    this.#start = piece.place
  }

  /**
   * Removes the pieces that the target already contains as a whole; `place` is its newest record. Returns false when
   * the pending records do not continue the target's. Call {@link seal} first.
   */
  continueAt(place: ChainPlace): boolean {
    if (place.sequence === this.#start.sequence) return place.checksum === this.#start.checksum
    const containing = this.#pieces.find(
      ({ first, place: last }) => first <= place.sequence && place.sequence <= last.sequence,
    )
    if (
      containing === undefined ||
      containing.checksums[place.sequence - containing.first] !== place.checksum
    )
      return false
    while (this.next !== undefined && this.next.place.sequence <= place.sequence) this.shift()
    return true
  }

  /**
   * Drops all pending records and returns the number of dropped bytes. The caller then adds the records after `place`.
   */
  clear(place: ChainPlace = this.#place): number {
    const { bytes } = this
    this.#cancelSeal?.()
    this.#collected = []
    this.#collectedBytes = 0
    this.#pieces = []
    this.#pieceBytes = 0
    this.#compressingBytes = 0
    this.#place = place
    this.#start = place
    this.#clearCount++
    return bytes
  }
}

async function pieceOf(bytes: Buffer, arrivedMs: number): Promise<Piece> {
  const records = [...recordsIn(bytes)]
  const [first] = records
  const last = records.at(-1)
  assert(first !== undefined && last !== undefined, 'a piece has records')
  const commits = records.flatMap(record => commitsIn(bytes, record))
  const [oldest] = commits
  const newest = commits.at(-1)
  return {
    object: await packObject(bytes),
    first: first.sequence,
    before: first.before,
    place: { sequence: last.sequence, checksum: last.checksum },
    checksums: Uint32Array.from(records, ({ checksum }) => checksum),
    times: oldest && newest && { since: oldest.time, time: newest.time },
    arrivedMs,
  }
}
