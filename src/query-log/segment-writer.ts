// Appends records to the segment files of one process. `append` never waits: lines are buffered in memory and are
// durable within a second, even if the machine crashes. The log must never stop queries, and the buffer has a limit.
// If the disk is too slow or full, further records are therefore dropped, counted and reported.

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { type FileHandle, open, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { epoch, micros } from '../base/micros.ts'
import type { Timers } from '../base/timers.ts'
import { isFullDisk } from '../storage/kv/store-errors.ts'
import { flushFolder } from '../storage/log/segment-files.ts'
import type { Micros } from '../values/value.ts'
import { announce, livePath, removeFile, segmentPath } from './segment-files.ts'

interface SegmentWriterOptions {
  readonly folder: string
  /** Identifies this process among the writers; lower-case hexadecimal. */
  readonly writer: string
  readonly clock: Clock
  readonly timers: Timers
  /** Size in bytes at which a segment is closed. */
  readonly segmentBytes: number
  /** Age in milliseconds at which a segment is closed. */
  readonly segmentMs: number
  /** Maximum number of buffered bytes; further records are dropped. */
  readonly bufferBytes?: number
  /** Called when records were lost, at most once per flush. `records`: the number of lost records. */
  readonly onLoss: (records: number, cause: unknown) => void
  /** Called once if the disk is full when the writer starts. Records are then lost until the disk has free space. */
  readonly onFull?: (cause: unknown) => void
  /** Opens a segment; replaced in tests of failing disks. */
  readonly openFile?: (path: string) => Promise<SegmentFile>
  /** Creates an empty file; replaced in tests of failing disks. */
  readonly touch?: (path: string) => void
}

/** The operations on an open file that the writer needs. */
export type SegmentFile = Pick<FileHandle, 'writev' | 'datasync' | 'close'>

/** Milliseconds between flushes. A crash of the machine loses at most the records of two such intervals. */
const flushEveryMs = 500

const bufferBytesDefault = 16_777_216
const chunkBytes = 262_144
/** Maximum number of bytes in UTF-8 per UTF-16 code unit. */
const bytesPerUnit = 3

interface LineBuffer {
  readonly bytes: Buffer
  /** The time of the buffer's first record. */
  since: Micros
  used: number
  records: number
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions
  readonly #waitingMax: number
  readonly #openFile: (path: string) => Promise<SegmentFile>
  readonly #free: LineBuffer[] = []
  readonly #stop: () => void
  #waiting: LineBuffer[] = []
  #current: LineBuffer = newBuffer()
  #lost = 0
  #lossCause: unknown
  #flushing: Promise<void> = Promise.resolve()
  #newest: Micros = epoch
  #file: SegmentFile | undefined
  #path = ''
  #fileBytes = 0
  #fileSince = 0
  #isUnsynced = false
  /** True if this writer has created the file that announces it to the other processes. */
  #isKnown = false
  #hasWarned = false

  constructor(options: SegmentWriterOptions) {
    this.#options = options
    this.#waitingMax = Math.ceil((options.bufferBytes ?? bufferBytesDefault) / chunkBytes)
    this.#openFile = options.openFile ?? (path => createSegment(options.folder, path))
    this.#begin()
    this.#stop = options.timers.every(flushEveryMs, () => this.flush())
  }

  /**
   * Announces this writer to the other processes. On a full disk, the announcement fails and is retried at each flush.
   */
  #begin(): void {
    try {
      const { folder, touch = makeEmpty, writer } = this.#options
      touch(livePath(folder, writer))
      this.#isKnown = true
    } catch (error) {
      if (!isFullDisk(error)) throw error
      if (!this.#hasWarned) this.#options.onFull?.(error)
      this.#hasWarned = true
    }
  }

  /**
   * Returns the time for a new record. This is the clock's time or a slightly later time, so that all records have
   * different times.
   */
  now(): Micros {
    this.#newest = Math.max(micros(this.#newest + 1), this.#options.clock.now())
    return this.#newest
  }

  /** Appends a line, including its line break. The line's time must be the latest time that {@link now} returned. */
  append(line: string): void {
    const room = line.length * bytesPerUnit
    if (this.#current.used + room > this.#current.bytes.length && !this.#seal(room)) return
    const chunk = this.#current
    if (chunk.records === 0) chunk.since = this.#newest
    chunk.used += chunk.bytes.write(line, chunk.used)
    chunk.records++
  }

  /** Writes all appended lines to disk and reports the progress to the other processes. Never rejects. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flush())
    return this.#flushing
  }

  /**
   * Flushes, stops, and removes the file that announces this writer. Other processes then no longer wait for records of
   * this writer.
   */
  async close(): Promise<void> {
    this.#stop()
    await this.flush()
    await this.#closeFile()
    await removeFile(livePath(this.#options.folder, this.#options.writer))
  }

  /** Queues the full buffer and replaces it. Returns false when the queue is full; then the new record is lost. */
  #seal(room: number): boolean {
    if (this.#waiting.length >= this.#waitingMax) {
      this.#lost++
      this.#lossCause ??= new Error('the disk does not keep up with the query log')
      return false
    }
    if (this.#current.used > 0) this.#waiting.push(this.#current)
    const reused = room <= chunkBytes ? this.#free.pop() : undefined
    this.#current = reused ?? newBuffer(room)
    this.#flushing = this.#flushing.then(() => this.#drain())
    return true
  }

  async #flush(): Promise<void> {
    const { folder, writer, onLoss } = this.#options
    const time = this.now()
    if (this.#current.used > 0) {
      this.#waiting.push(this.#current)
      this.#current = this.#free.pop() ?? newBuffer()
    }
    await this.#drain()
    try {
      if (this.#isUnsynced) {
        await this.#file?.datasync()
        // The modification time is set from the clock that the records use. The system's clock may differ.
        await utimes(this.#path, time / 1e6, time / 1e6)
      }
      this.#isUnsynced = false
      if (this.#file && this.#isFull(time)) await this.#closeFile()
      if (!this.#isKnown) this.#begin()
      if (this.#isKnown) await announce(folder, writer, time)
    } catch (error) {
      this.#lossCause ??= error
    }
    if (this.#lost === 0) return
    onLoss(this.#lost, this.#lossCause)
    this.#lost = 0
    this.#lossCause = undefined
  }

  /** Writes the queued buffers. */
  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const chunks = this.#waiting
      this.#waiting = []
      try {
        await this.#write(chunks)
      } catch (error) {
        this.#lossCause ??= error
        for (const { records } of chunks) this.#lost += records
        // Further records are written to a new file, because they must not follow an incomplete line.
        await this.#closeFile()
      }
      for (const chunk of chunks) this.#recycle(chunk)
    }
  }

  async #write(chunks: readonly LineBuffer[]): Promise<void> {
    const { folder, writer } = this.#options
    if (this.#file === undefined) {
      const from = (chunks[0] as LineBuffer).since
      this.#path = segmentPath(folder, from, writer)
      this.#file = await this.#openFile(this.#path)
      this.#fileSince = from
      this.#fileBytes = 0
    }
    let bytes = 0
    for (const { used } of chunks) bytes += used
    const { bytesWritten } = await this.#file.writev(chunks.map(chunk => chunk.bytes.subarray(0, chunk.used)))
    if (bytesWritten < bytes) throw new Error('the disk wrote only a part of the query log')
    this.#fileBytes += bytes
    this.#isUnsynced = true
    if (this.#fileBytes >= this.#options.segmentBytes) await this.#closeFile()
  }

  #isFull(now: Micros): boolean {
    return now - this.#fileSince >= this.#options.segmentMs * 1000
  }

  async #closeFile(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#isUnsynced = false
    try {
      await file?.datasync()
      await file?.close()
    } catch (error) {
      this.#lossCause ??= error
    }
  }

  #recycle(chunk: LineBuffer): void {
    if (chunk.bytes.length !== chunkBytes || this.#free.length >= 4) return
    chunk.used = 0
    chunk.records = 0
    this.#free.push(chunk)
  }
}

function makeEmpty(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}

async function createSegment(folder: string, path: string): Promise<SegmentFile> {
  const file = await open(path, 'ax', 0o600)
  await flushFolder(folder)
  return file
}

function newBuffer(bytes = 0): LineBuffer {
  return { bytes: Buffer.allocUnsafe(Math.max(chunkBytes, bytes)), since: epoch, used: 0, records: 0 }
}
