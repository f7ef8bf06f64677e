// Sends the records of the commit log to the backup process, which writes the continuous backup of a data directory. The
// backup process has its own memory and a lower priority, so commits never wait for a slow bucket or for a copy of the
// data file. The service retains recent records until the target contains them, and sends the retained records again
// after a crash of the backup process.

import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'
import type { Logger } from 'pino'
import type { BackupSetup, ToBackup, WrittenRecords } from '../backup/messages.ts'
import { megabyte } from '../base/bytes.ts'
import { receiveFrames, sendFrame } from '../base/frames.ts'
import type { Micros } from '../base/micros.ts'
import { compileCache, environmentWithoutSettings, programFile, startProgram } from '../base/program-files.ts'
import { type Cancel, systemTimers, wait } from '../base/timers.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import type { RecordSink } from '../storage/log/logged-store.ts'
import type { ChainPlace } from '../storage/log/segment.ts'

const program = programFile('app/backup-main.ts')

/** Milliseconds for which records are collected before they are sent. */
const sendAfterMs = 50
/** Collected records of this many bytes are sent immediately. */
const sendBytes = megabyte / 4
/**
 * Bounds both the bytes in the pipe and the bytes of retained records. Records that exceed the pipe's bound are
 * dropped, and the process writes a new base copy. When the retained records exceed theirs, the oldest are dropped, and
 * a crash of the process then costs a new base copy.
 */
const pipeBytesMax = 64 * megabyte
const watermarkEveryMs = 1_000
/** Milliseconds before an exited backup process is started again. */
const restartMs = 5_000
/** The process is killed if it has not exited this many milliseconds after the end of its input. */
const exitMs = 8_000

interface BackupOptions extends Omit<BackupSetup, 'log' | 'place'> {
  readonly logger: Logger
}

/** Records after `before`, up to and including `place`. */
interface Records {
  readonly records: readonly Buffer[]
  readonly bytes: number
  readonly before: ChainPlace
  readonly place: ChainPlace
}

/** The continuous backup of the data directory, in the process that commits. */
export class ContinuousBackup implements RecordSink {
  readonly #options: BackupOptions
  #log: Bytes = new Uint8Array(0)
  #child: { readonly process: ChildProcess; readonly ended: Promise<void> } | undefined
  /** `#before` is the record before the unsent records, and `#place` the newest of them. */
  #records: Buffer[] = []
  #bytes = 0
  #before: ChainPlace = { sequence: 0, checksum: 0 }
  #place: ChainPlace = { sequence: 0, checksum: 0 }
  /** Records that the target may lack, the oldest first, whether sent or not. */
  #retained: Records[] = []
  #retainedBytes = 0
  #cancelSend: Cancel | undefined
  #hasFailed: () => boolean = () => true
  #endedUpTo: () => Micros | undefined = () => undefined
  #cancelWatermarks: Cancel | undefined
  #isEnded = false

  constructor(options: BackupOptions) {
    this.#options = options
  }

  /**
   * `endedUpTo` returns a time up to which all commits have ended, so that {@link add} has received them, or undefined
   * if there is no such time now. Without this function, a restore accepts only times up to the newest commit.
   */
  followCommits(endedUpTo: () => Micros | undefined): void {
    this.#endedUpTo = endedUpTo
  }

  begin(log: Bytes, { checksum, sequence }: ChainPlace, hasFailed: () => boolean): void {
    this.#hasFailed = hasFailed
    this.#cancelWatermarks = systemTimers.every(watermarkEveryMs, () => this.#sendWatermark())
    this.#log = Uint8Array.from(log)
    this.#before = { checksum, sequence }
    this.#place = this.#before
    this.#start()
  }

  add(records: Bytes, { checksum, sequence }: ChainPlace): void {
    this.#records.push(Buffer.from(records))
    this.#bytes += records.length
    this.#place = { checksum, sequence }
    if (this.#bytes >= sendBytes) this.#send()
    else this.#cancelSend ??= systemTimers.after(sendAfterMs, () => this.#send())
  }

  /** Lets the backup process write its pending records; kills it after `exitMs`. */
  async end(): Promise<void> {
    this.#cancelWatermarks?.()
    this.#sendWatermark()
    this.#send()
    if (this.#child === undefined && this.#retained.length > 0) this.#start()
    this.#isEnded = true
    const child = this.#child
    if (child === undefined) return
    child.process.stdin?.end()
    await Promise.race([child.ended, wait(exitMs)])
    child.process.kill('SIGKILL')
    await child.ended
  }

  #send(): void {
    this.#cancelSend?.()
    this.#cancelSend = undefined
    if (this.#records.length === 0) return
    const records = { records: this.#records, bytes: this.#bytes, before: this.#before, place: this.#place }
    this.#records = []
    this.#bytes = 0
    this.#before = this.#place
    this.#retained.push(records)
    this.#retainedBytes += records.bytes
    while (this.#retainedBytes > pipeBytesMax) this.#dropOldest()
    const input = this.#child?.process.stdin
    if (input && input.writableLength <= pipeBytesMax) sendRecords(input, records)
  }

  #dropOldest(): void {
    this.#retainedBytes -= this.#retained.shift()?.bytes ?? 0
  }

  #dropWritten(sequence: number): void {
    for (
      let [oldest] = this.#retained;
      oldest && oldest.place.sequence <= sequence;
      [oldest] = this.#retained
    )
      this.#dropOldest()
  }

  /** Without watermarks, the process could not distinguish a pause of the clients from a disk that delays a commit. */
  #sendWatermark(): void {
    const time = this.#hasFailed() ? undefined : this.#endedUpTo()
    if (time === undefined) return
    this.#send()
    const input = this.#child?.process.stdin
    if (!input || input.writableLength > pipeBytesMax) return
    sendFrame(input, { kind: 'watermark', place: this.#place, time } satisfies ToBackup)
  }

  #start(): void {
    const { logger, ...setup } = this.#options
    const env = { NODE_COMPILE_CACHE: compileCache, ...environmentWithoutSettings() }
    const child = startProgram(program, {}, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin?.on('error', () => {})
    if (child.stdin && child.stdout) {
      const sent = { ...setup, log: this.#log, place: this.#retained[0]?.before ?? this.#before }
      sendFrame(child.stdin, { kind: 'setup', setup: sent } satisfies ToBackup)
      for (const records of this.#retained) sendRecords(child.stdin, records)
      receiveFrames(child.stdout, ({ head }) => this.#dropWritten((head as WrittenRecords).sequence))
    }
    const ended = new Promise<void>(resolve => {
      const end = (how: string) => {
        resolve()
        if (this.#isEnded || this.#child?.process !== child) return
        this.#child = undefined
        logger.error({ reason: how }, 'the process of the continuous backup has exited and will be restarted')
        systemTimers.after(restartMs, () => {
          if (!this.#isEnded) this.#start()
        })
      }
      child.once('exit', (code, signal) => end(signal ?? `exit status ${code}`))
      child.once('error', ({ message }) => end(message))
    })
    this.#child = { process: child, ended }
  }
}

function sendRecords(input: Writable, { before, place, records }: Records): void {
  sendFrame(input, { kind: 'records', before, place } satisfies ToBackup, records)
}
