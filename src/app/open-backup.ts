// Starts the process that writes the continuous backup of a data directory to a folder or a bucket. Sends the records
// of the commit log to this process. The process has its own memory and a lower priority. So commits wait neither for a
// slow bucket nor for the copying of the data file.

import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import type { BackupSetup, ToBackup } from '../backup/messages.ts'
import { megabyte } from '../base/bytes.ts'
import { systemClock } from '../base/clock.ts'
import { sendFrame } from '../base/frames.ts'
import { compileCache, environmentWithoutSettings, programFile, startProgram } from '../base/program-files.ts'
import { type Cancel, systemTimers, wait } from '../base/timers.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import type { RecordSink } from '../storage/kv/log/logged-store.ts'
import type { ChainPlace } from '../storage/kv/log/segment.ts'

const program = programFile('app/backup-main.ts')

/** Milliseconds for which records are collected before they are sent. */
const sendAfterMs = 50
/** Collected records of this many bytes are sent immediately. */
const sendBytes = megabyte / 4
/**
 * Maximum number of buffered bytes. If more bytes are buffered, records are dropped, and the backup process writes a
 * new base copy.
 */
const pipeBytesMax = 64 * megabyte
/** Milliseconds between two messages that no commit is in progress. */
const idleEveryMs = 1_000
/** Milliseconds before a process that has exited is started again. */
const restartMs = 5_000
/** The process is killed if it has not exited this many milliseconds after the end of its input. */
const exitMs = 8_000

interface BackupOptions extends Omit<BackupSetup, 'log' | 'place'> {
  readonly logger: Logger
}

/** The continuous backup of a data directory that this process commits to. */
export class ContinuousBackup implements RecordSink {
  readonly #options: BackupOptions
  #log: Bytes = new Uint8Array(0)
  #child: { readonly process: ChildProcess; readonly ended: Promise<void> } | undefined
  /**
   * Records that are not sent yet; `#before` is the record before these records, and `#place` is the newest of these
   * records.
   */
  #records: Buffer[] = []
  #bytes = 0
  #before: ChainPlace = { sequence: 0, checksum: 0 }
  #place: ChainPlace = { sequence: 0, checksum: 0 }
  #cancelSend: Cancel | undefined
  #isIdle: () => boolean = () => false
  #cancelIdle: Cancel | undefined
  #isEnded = false

  constructor(options: BackupOptions) {
    this.#options = options
  }

  begin(log: Bytes, { checksum, sequence }: ChainPlace, isIdle: () => boolean): void {
    this.#isIdle = isIdle
    this.#cancelIdle = systemTimers.every(idleEveryMs, () => this.#sendIdle())
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

  /**
   * Ends the input of the process, and waits until the process has written its pending records. Kills the process if it
   * has not exited after `exitMs`.
   */
  async end(): Promise<void> {
    this.#cancelIdle?.()
    this.#sendIdle()
    this.#send()
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
    const [records, before] = [this.#records, this.#before]
    this.#records = []
    this.#bytes = 0
    this.#before = this.#place
    const input = this.#child?.process.stdin
    if (!input || input.writableLength > pipeBytesMax || records.length === 0) return
    sendFrame(input, { kind: 'records', before, place: this.#place } satisfies ToBackup, records)
  }

  /**
   * Reports that the process has received all commits up to now. Without this message, the process could not
   * distinguish a pause of the clients from a disk that delays a commit.
   */
  #sendIdle(): void {
    if (!this.#isIdle()) return
    this.#send()
    const input = this.#child?.process.stdin
    if (!input || input.writableLength > pipeBytesMax) return
    sendFrame(input, { kind: 'idle', place: this.#place, time: systemClock.now() } satisfies ToBackup)
  }

  #start(): void {
    const { logger, ...setup } = this.#options
    const env = { NODE_COMPILE_CACHE: compileCache, ...environmentWithoutSettings() }
    const child = startProgram(program, {}, { env, stdio: ['pipe', 'ignore', 'inherit'] })
    child.stdin?.on('error', () => {})
    if (child.stdin) {
      const sent = { ...setup, log: this.#log, place: this.#before }
      sendFrame(child.stdin, { kind: 'setup', setup: sent } satisfies ToBackup)
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
