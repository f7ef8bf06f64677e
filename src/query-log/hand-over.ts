// Hands the segments of this machine over to the store that it shares with others, so that each of them can export what
// all were asked: in pieces, as soon as there is much, once in a while when there is little, and at once when they are asked for.

import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Loop } from '../base/loop.ts'
import { epoch } from '../base/micros.ts'
import type { Timers } from '../base/timers.ts'
import type { Chunk } from '../kv/postgres/log-chunks.ts'
import type { Micros } from '../values/value.ts'
import { listSegments, modificationTime, type Segment, writtenUpTo } from './segment-files.ts'
import { chunkName, type SharedLog } from './shared-log.ts'

const compressed = promisify(gzip)

interface HandOverOptions {
  readonly folder: string
  readonly shared: SharedLog
  readonly timers: Timers
  readonly onFailure: (cause: unknown) => void
}

/** Milliseconds between two looks at what there is and who asks. */
const everyMs = 1_000
/** How often, in milliseconds, the others are told that this machine lives; they wait for one that is silent for 10 s. */
const reportEveryMs = 4_000
/** Everything is handed over after so many milliseconds at least: what is lost with a machine is younger. */
const wholeEveryMs = 60_000
/** A segment that has grown by so many bytes is handed over sooner. */
const muchBytes = 1 << 20
const pieceBytesMax = 4 << 20
/** Five times as fast as gzip's default, which makes records a tenth smaller. */
const gzipLevel = 3
/** A line end: pieces hold whole records. */
const lineEnd = 0x0a

export class HandOver {
  readonly #options: HandOverOptions
  readonly #loop: Loop
  /** Bytes handed over, by writer and start of the segment; undefined until the store has told. */
  #reached: Map<string, number> | undefined
  /** All that was recorded up to then has been handed over. */
  #whole: Micros = epoch
  #reportedAt: Micros = epoch
  #hasFailed = false

  constructor(options: HandOverOptions) {
    this.#options = options
    this.#loop = new Loop(options.timers, () => this.#tryStep())
  }

  /** Hands over the rest, if the store can be reached, and ends. The machine's writers have ended. */
  async close(): Promise<void> {
    await this.#loop.stop()
    try {
      await this.#handOver(1)
      await this.#options.shared.chunks.retire()
    } catch {
      // The next process of this machine does it.
    }
  }

  /** Resolves with the milliseconds until the next. */
  async #tryStep(): Promise<number> {
    try {
      await this.#step()
      this.#hasFailed = false
    } catch (cause) {
      this.#reached = undefined
      if (!this.#hasFailed) this.#options.onFailure(cause)
      this.#hasFailed = true
    }
    return everyMs
  }

  async #step(): Promise<void> {
    const { folder, shared, timers } = this.#options
    const { chunks, now } = shared
    const time = now()
    const isDue = time - this.#whole >= wholeEveryMs * 1000
    if (isDue || (await chunks.asked()) > this.#whole) {
      await writtenUpTo(folder, time, { now, timers })
      await this.#handOver(1)
      this.#whole = time
      this.#reportedAt = epoch
    } else await this.#handOver(muchBytes)
    if (time - this.#reportedAt < reportEveryMs * 1000) return
    await chunks.report(this.#whole)
    this.#reportedAt = time
  }

  /** Hands over what segments have grown by, if that is at least `bytesMin`. */
  async #handOver(bytesMin: number): Promise<void> {
    const segments = (await listSegments(this.#options.folder)).filter(({ isCopy }) => !isCopy)
    const writers = [...new Set(segments.map(({ writer }) => writer))]
    const reached = this.#reached ?? new Map(await this.#options.shared.chunks.handedOver(writers))
    this.#reached = reached
    for (const segment of segments) await this.#handOverSegment(segment, reached, bytesMin)
  }

  async #handOverSegment(segment: Segment, reached: Map<string, number>, bytesMin: number): Promise<void> {
    const name = `${segment.writer}/${segment.from}`
    const file = await open(segment.path).catch(() => undefined)
    // Retention was faster.
    if (file === undefined) return
    try {
      let position = reached.get(name) ?? 0
      const { size } = await file.stat()
      if (size - position < bytesMin) return
      for (;;) {
        const piece = await readPiece(file, position, size)
        if (piece === undefined) return
        const until = (await modificationTime(segment.path)) ?? this.#options.shared.now()
        await this.#store({ ...segment, position, until }, piece)
        position += piece.length
        reached.set(name, position)
      }
    } finally {
      await file.close()
    }
  }

  async #store(
    { writer, from, position, until }: Segment & Pick<Chunk, 'position' | 'until'>,
    piece: Buffer,
  ): Promise<void> {
    const { bucket, chunks } = this.#options.shared
    const chunk: Chunk = { writer, start: from, position, bytes: piece.length, until }
    const body = await compressed(piece, { level: gzipLevel })
    if (bucket) await bucket.store(chunkName(chunk), body)
    await chunks.add(chunk, bucket ? undefined : body)
  }
}

/** The whole lines from `position` on, as many as one piece may hold; undefined when there are none. */
async function readPiece(file: FileHandle, position: number, size: number): Promise<Buffer | undefined> {
  const length = Math.min(pieceBytesMax, size - position)
  if (length <= 0) return undefined
  const block = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(block, 0, length, position)
  const end = block.subarray(0, bytesRead).lastIndexOf(lineEnd) + 1
  return end === 0 ? undefined : block.subarray(0, end)
}
