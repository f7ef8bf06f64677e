// Writes the blocks of records (segment-format.ts) of one process to segment files. Recording never waits: blocks are
// buffered in memory and are durable within a second, even if the machine crashes. The log must never stop queries, and
// the buffer has a limit. If the disk is too slow or full, further records are therefore dropped, counted and reported.

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { type FileHandle, open, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { assert } from '../base/assert.ts'
import type { Clock } from '../base/clock.ts'
import { epoch, micros } from '../base/micros.ts'
import type { Timers } from '../base/timers.ts'
import { isFullDisk } from '../storage/kv/store-errors.ts'
import { flushFolder } from '../storage/log/segment-files.ts'
import type { Micros } from '../values/value.ts'
import { announce, livePath, removeFile, segmentPath } from './segment-files.ts'
import { headBytes, segmentHead, writeHead } from './segment-format.ts'

interface SegmentWriterOptions {
  readonly folder: string
  /** The region group of all records. */
  readonly regionGroup: string
  /** Identifies this process among the writers; lower-case hexadecimal. */
  readonly writer: string
  readonly clock: Clock
  readonly timers: Timers
  /** Size in bytes after which a segment is closed, at the end of a section. */
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

export type SegmentFile = Pick<FileHandle, 'writev' | 'datasync' | 'close'>

/** Milliseconds between flushes. A crash of the machine loses at most the records of two such intervals. */
const flushEveryMs = 500

const bufferBytesDefault = 16_777_216
/** Bytes of a block with common records. The last block of a flush is shorter; a block with a long text is longer. */
const blockBytes = 65_536
const sectionBytesMax = 1_048_576
/** Number of written blocks whose memory is reused. */
const freeBlocksMax = 16

interface Block {
  readonly bytes: Buffer
  /** True for the first block of a section. */
  isStart: boolean
  section: number
  /** Number of texts in earlier blocks of the section. */
  texts: number
  /** The time of the block's first record. */
  since: Micros
  /** The time of the block's latest record in milliseconds; 0 if the block has no record. */
  latestMs: number
  used: number
  records: number
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions
  readonly #waitingMax: number
  readonly #openFile: (path: string) => Promise<SegmentFile>
  readonly #free: Block[] = []
  readonly #stop: () => void
  #waiting: Block[] = []
  #current: Block = newBlock()
  #section = 0
  #sectionBytes = 0
  /** True if the next record must begin a section: the segment is full, or a block of this section was lost. */
  #needsSection = true
  /** True after the loss of a block. Later blocks of the same section cannot be read without its texts. */
  #hasGap = false
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
    this.#waitingMax = Math.ceil((options.bufferBytes ?? bufferBytesDefault) / blockBytes)
    this.#openFile = options.openFile ?? (path => createSegment(options.folder, path))
    this.#createLiveFile()
    this.#stop = options.timers.every(flushEveryMs, () => this.flush())
  }

  /**
   * Announces this writer to the other processes. On a full disk, the announcement fails and is retried at each flush.
   */
  #createLiveFile(): void {
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

  /**
   * Begins a record: returns the number of its section, or undefined if the record is lost. `isFull`: the section has
   * too many texts. If the number has changed, the new section has no texts yet.
   */
  begin(isFull: boolean): number | undefined {
    const bytes = this.#sectionBytes + this.#current.used
    if (!(isFull || this.#needsSection || bytes >= sectionBytesMax)) return this.#section
    if (this.#current.used > headBytes && !this.#seal(0)) return undefined
    this.#needsSection = false
    this.#section++
    this.#sectionBytes = 0
    this.#current.isStart = true
    return this.#section
  }

  /**
   * Returns a block with room for a frame of at most `bytes` bytes; undefined if the record is lost. The caller writes
   * the frame at `used` and updates the block. `texts`: the number of texts of the section so far.
   */
  reserve(bytes: number, texts: number): Block | undefined {
    if (this.#current.used + bytes > this.#current.bytes.length && !this.#seal(bytes)) return undefined
    const block = this.#current
    if (block.used === headBytes) {
      block.section = this.#section
      block.texts = texts
      block.since = this.#newest
    }
    return block
  }

  /** Writes all records to disk and reports the progress to the other processes. Never rejects. */
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

  /** Queues the current block and replaces it. Returns false when the queue is full; then the new record is lost. */
  #seal(room: number): boolean {
    if (this.#waiting.length >= this.#waitingMax) {
      this.#lost++
      this.#lossCause ??= new Error('the disk does not keep up with the query log')
      return false
    }
    this.#queueCurrent(room)
    this.#flushing = this.#flushing.then(() => this.#drain())
    return true
  }

  #queueCurrent(room = 0): void {
    const { used } = this.#current
    // An empty block stays the first block of its section.
    const isStart = used === headBytes && this.#current.isStart
    if (used > headBytes) this.#waiting.push(this.#current)
    this.#sectionBytes += used
    const reused = headBytes + room <= blockBytes ? this.#free.pop() : undefined
    this.#current = reused ?? newBlock(room)
    this.#current.isStart = isStart
  }

  async #flush(): Promise<void> {
    const { folder, writer, onLoss } = this.#options
    const time = this.now()
    if (this.#current.used > headBytes) this.#queueCurrent()
    await this.#drain()
    try {
      if (this.#isUnsynced) {
        await this.#file?.datasync()
        // The modification time is set from the clock that the records use. The system's clock may differ.
        await utimes(this.#path, time / 1e6, time / 1e6)
      }
      this.#isUnsynced = false
      if (this.#file && this.#isFull(time)) {
        this.#needsSection = true
        // Records that were buffered during the flush belong to this file, because their texts are in this file.
        if (this.#current.used === headBytes) await this.#closeFile()
      }
      if (!this.#isKnown) this.#createLiveFile()
      if (this.#isKnown) await announce(folder, writer, time)
    } catch (error) {
      this.#lossCause ??= error
    }
    if (this.#lost === 0) return
    onLoss(this.#lost, this.#lossCause)
    this.#lost = 0
    this.#lossCause = undefined
  }

  /** Writes the queued blocks, section by section. */
  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const next = this.#waiting.findIndex(({ isStart }, at) => isStart && at > 0)
      const blocks = this.#waiting.splice(0, next < 0 ? this.#waiting.length : next)
      if (blocks[0]?.isStart) this.#hasGap = false
      try {
        if (this.#hasGap) this.#lose(blocks)
        else await this.#write(blocks)
      } catch (error) {
        this.#lossCause ??= error
        this.#lose(blocks)
        this.#hasGap = true
        this.#needsSection = true
        // Further records are written to a new file, because they must not follow an incomplete block.
        await this.#closeFile()
      }
      for (const block of blocks) this.#recycle(block)
    }
  }

  #lose(blocks: readonly Block[]): void {
    for (const { records } of blocks) this.#lost += records
  }

  /** Writes blocks of one section. */
  async #write(blocks: readonly Block[]): Promise<void> {
    const { folder, regionGroup, writer } = this.#options
    const { isStart, since } = blocks[0] as Block
    if (isStart && this.#file !== undefined && this.#isFull(since)) await this.#closeFile()
    const parts: Buffer[] = []
    if (this.#file === undefined) {
      assert(isStart, 'a segment begins with a section')
      this.#path = segmentPath(folder, since, writer)
      this.#file = await this.#openFile(this.#path)
      this.#fileSince = since
      this.#fileBytes = 0
      parts.push(segmentHead(regionGroup))
    }
    for (const block of blocks) {
      writeHead(block.bytes, block.used, block)
      parts.push(block.bytes.subarray(0, block.used))
    }
    let bytes = 0
    for (const { length } of parts) bytes += length
    const { bytesWritten } = await this.#file.writev(parts)
    if (bytesWritten < bytes) throw new Error('the disk wrote only a part of the query log')
    this.#fileBytes += bytes
    this.#isUnsynced = true
    if (this.#isFull(since)) this.#needsSection = true
  }

  #isFull(now: Micros): boolean {
    const { segmentBytes, segmentMs } = this.#options
    return this.#fileBytes >= segmentBytes || now - this.#fileSince >= segmentMs * 1000
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

  #recycle(block: Block): void {
    if (block.bytes.length !== blockBytes || this.#free.length >= freeBlocksMax) return
    block.used = headBytes
    block.records = 0
    block.latestMs = 0
    this.#free.push(block)
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

function newBlock(room = 0): Block {
  const bytes = Buffer.allocUnsafe(Math.max(blockBytes, headBytes + room))
  return {
    bytes,
    isStart: false,
    section: 0,
    texts: 0,
    since: epoch,
    latestMs: 0,
    used: headBytes,
    records: 0,
  }
}
