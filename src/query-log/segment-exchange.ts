// The exchange of log segments between machines through their shared store. This machine uploads its segments, so that
// each machine can export the records of all machines. Segments are uploaded in chunks. A segment with much new data is
// uploaded within a second. All other new data is uploaded once a minute, or within a second after another machine has
// requested the records. Segments of other machines are copied into the local folder of segments, which all processes of
// this machine read. A copy grows when the other machine uploads more data.

import { constants } from 'node:fs'
import { type FileHandle, open, stat, utimes } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib'
import { epoch, micros } from '../base/micros.ts'
import { Loop, type Timers, wait } from '../base/timers.ts'
import type { Chunk } from '../storage/postgres/log-chunks.ts'
import { newline } from '../values/json-scan.ts'
import type { Micros } from '../values/value.ts'
import {
  copyPath,
  hasLines,
  ifPresent,
  listSegments,
  modificationTime,
  type Segment,
  slackMs,
  type TimeSpan,
  writtenUpTo,
} from './segment-files.ts'
import { chunkName, type SharedLog } from './shared-log.ts'

const toGzip = promisify(gzip)
const toZstd = promisify(zstdCompress)

interface UploaderOptions {
  readonly folder: string
  readonly shared: SharedLog
  readonly timers: Timers
  readonly onFailure: (cause: unknown) => void
}

/** Polling interval for new data and requests, in milliseconds. */
const everyMs = 1_000
/**
 * Interval at which this machine reports that it is alive, in milliseconds. After 10 s without a report, other machines
 * stop waiting for this machine.
 */
const reportEveryMs = 4_000
/**
 * Interval between uploads of all new data, in milliseconds. If a machine's disk is lost, only the records since the
 * last of these uploads are lost.
 */
const uploadAllEveryMs = 60_000
/** A segment with this many new bytes is uploaded before {@link uploadAllEveryMs} has passed. */
const muchBytes = 1 << 20
const pieceBytesMax = 4 << 20
/** Faster than gzip's default level. Only segments of lines (of versions before 1.0) are compressed with gzip. */
const gzipLevel = 3
/** The first byte of gzip data. */
const gzipStart = 0x1f

export class SegmentUploader {
  readonly #options: UploaderOptions
  readonly #loop: Loop
  /** Number of uploaded bytes of each segment, by its writer and start; undefined until read from the store. */
  #reached: Map<string, number> | undefined
  /** All records up to this time have been uploaded. */
  #uploadedUpTo: Micros = epoch
  #reportedAt: Micros = epoch
  #hasFailed = false

  constructor(options: UploaderOptions) {
    this.#options = options
    this.#loop = new Loop(options.timers, () => this.#tryStep())
  }

  /** Stops, and uploads the remaining data if the store is available. Call this after the machine's writers stop. */
  async close(): Promise<void> {
    await this.#loop.stop()
    try {
      await this.#upload(1)
      await this.#options.shared.chunks.retire()
    } catch {
      // The next process of this machine uploads the remaining data.
    }
  }

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
    const isDue = time - this.#uploadedUpTo >= uploadAllEveryMs * 1000
    if (isDue || (await chunks.requestedTime()) > this.#uploadedUpTo) {
      await writtenUpTo(folder, time, { now, timers })
      await this.#upload(1)
      this.#uploadedUpTo = time
      // Other machines may wait for the new time, so it is reported at once.
      this.#reportedAt = epoch
    } else await this.#upload(muchBytes)
    if (time - this.#reportedAt < reportEveryMs * 1000) return
    await chunks.report(this.#uploadedUpTo)
    this.#reportedAt = time
  }

  /** Uploads new data of segments that have grown by at least `bytesMin`. */
  async #upload(bytesMin: number): Promise<void> {
    const segments = (await listSegments(this.#options.folder)).filter(({ isCopy }) => !isCopy)
    const writers = [...new Set(segments.map(({ writer }) => writer))]
    const reached = this.#reached ?? new Map(await this.#options.shared.chunks.uploadedBytes(writers))
    this.#reached = reached
    for (const segment of segments) await this.#uploadSegment(segment, reached, bytesMin)
  }

  async #uploadSegment(segment: Segment, reached: Map<string, number>, bytesMin: number): Promise<void> {
    const name = `${segment.writer}/${segment.from}`
    const file = await ifPresent(open(segment.path))
    // Retention has removed the segment since it was listed.
    if (file === undefined) return
    try {
      let position = reached.get(name) ?? 0
      const { size } = await file.stat()
      if (size - position < bytesMin) return
      for (;;) {
        const piece = await readPiece(file, position, size, hasLines(segment.path))
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
    { path, writer, from, position, until }: Segment & Pick<Chunk, 'position' | 'until'>,
    piece: Buffer,
  ): Promise<void> {
    const { bucket, chunks } = this.#options.shared
    const chunk: Chunk = { writer, start: from, position, bytes: piece.length, until }
    // Machines with a version before 1.0 expect gzip. They cannot read blocks, so they must fail instead of skipping them.
    const body = hasLines(path) ? await toGzip(piece, { level: gzipLevel }) : await toZstd(piece)
    if (bucket) await bucket.store(chunkName(chunk), body)
    await chunks.add(chunk, bucket ? undefined : body)
  }
}

/**
 * Reads at most {@link pieceBytesMax} bytes from `position`; undefined if there are none. A piece of lines ends with a
 * complete line. Other pieces may end within a record; readers of a copy then ignore this record until the next piece
 * has arrived.
 */
async function readPiece(
  file: FileHandle,
  position: number,
  size: number,
  isOfLines: boolean,
): Promise<Buffer | undefined> {
  const length = Math.min(pieceBytesMax, size - position)
  if (length <= 0) return undefined
  const block = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(block, 0, length, position)
  const end = isOfLines ? block.subarray(0, bytesRead).lastIndexOf(newline) + 1 : bytesRead
  return end === 0 ? undefined : block.subarray(0, end)
}

const fromGzip = promisify(gunzip)
const fromZstd = promisify(zstdDecompress)

/** Polling interval while waiting for other machines, in milliseconds. */
const pollEveryMs = 100

interface GatherOptions {
  readonly folder: string
  readonly shared: SharedLog
  readonly timers: Timers
}

/**
 * Requests all records up to `time`, and waits until all live machines have uploaded them. Then copies the missing
 * parts of all segments that may contain records of the time span.
 */
export async function gatherRecords(
  options: GatherOptions,
  { from, to }: TimeSpan,
  time: Micros,
  signal: AbortSignal,
): Promise<void> {
  const { folder, shared, timers } = options
  const { chunks } = shared
  await chunks.request(time)
  while ((await chunks.reportedByAll()) < time) {
    signal.throwIfAborted()
    await wait(pollEveryMs, timers)
  }
  const own = new Set(
    (await listSegments(folder))
      .filter(({ isCopy }) => !isCopy)
      .map(({ writer, from: start }) => `${writer}/${start}`),
  )
  for (const chunk of await chunks.between(micros((from - slackMs) * 1000), micros(to * 1000))) {
    signal.throwIfAborted()
    if (!own.has(`${chunk.writer}/${chunk.start}`)) await copyChunk(options, chunk)
  }
}

/** Writes a chunk to the local copy of its segment. Concurrent processes write the same bytes to the same position. */
async function copyChunk({ folder, shared }: GatherOptions, chunk: Chunk): Promise<void> {
  const { bucket, chunks } = shared
  const { bytes, position, start, until, writer } = chunk
  const paths = [false, true].map(isOfLines => copyPath(folder, start, writer, isOfLines))
  const sizes = await Promise.all(paths.map(path => ifPresent(stat(path))))
  const size = Math.max(...sizes.map(each => each?.size ?? 0))
  // Either the copy already contains this chunk, or an earlier chunk is missing, because it has expired.
  if (size >= position + bytes || size < position) return
  const body = await (bucket ? bucket.fetch(chunkName(chunk)) : chunks.body(chunk))
  if (body === undefined) return
  const isOfLines = body[0] === gzipStart
  const path = copyPath(folder, start, writer, isOfLines)
  const copy = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    await copy.write(await (isOfLines ? fromGzip(body) : fromZstd(body)), 0, bytes, position)
  } finally {
    await copy.close()
  }
  await utimes(path, until / 1e6, until / 1e6)
}
