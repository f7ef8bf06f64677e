// Processes export requests, one at a time in each process. A process claims a request with a lease and renews the
// lease during the work. If the process is killed, the lease expires, and another process continues from the stored
// state. An incomplete file is discarded and created again.

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { nearestMicros } from '../base/micros.ts'
import { Loop, type Timers } from '../base/timers.ts'
import type { Micros } from '../values/value.ts'
import { databaseFilter, type ExportRequest } from './export-request.ts'
import { type ExportStorage, fileName } from './export-storage.ts'
import type { ExportStore } from './export-store.ts'
import type { RecordFilter } from './segment-reader.ts'
import { isUnavailable } from './shared-log.ts'

interface ExportRunnerOptions {
  readonly store: ExportStore
  readonly storage: ExportStorage
  /** Identifies this process among the processes that share the store. */
  readonly owner: string
  readonly now: () => Micros
  /** The removal time (base/removal-time.ts), for timeouts. Unlike {@link now}, it jumps ahead by a day at most. */
  readonly passedTime: () => Micros
  readonly timers: Timers
  /** Milliseconds of processing after which a request is `TimedOut`. */
  readonly timeoutMs: number
  /** Validity of a download URL, in seconds. */
  readonly urlSeconds: number
  /** Returns the matching records, including all records that any process wrote up to `time`. */
  readonly records: (filter: RecordFilter, time: Micros, signal: AbortSignal) => AsyncIterable<Buffer>
  readonly onFailure: (request: ExportRequest, cause: unknown) => void
}

const pollEveryMs = 1000
/** Milliseconds after which a lease expires if it is not renewed. */
const leaseMs = 5000
const renewEveryMs = 1000
const leaseMicros = leaseMs * 1000

/** Maximum number of attempts. A request with more attempts fails, because the request probably crashes the process. */
const attemptsMax = 5

/** This level takes half the time of gzip's default level, and saves 80 % of the bytes that the default level saves. */
const gzipLevel = 3

type Interruption = 'timed out' | 'stopping' | 'lost'

export class ExportRunner {
  readonly #options: ExportRunnerOptions
  readonly #loop: Loop
  #interrupt: ((reason: Interruption) => void) | undefined
  #isStopping = false
  #claims = 0
  /** The requester of the last processed request. The next request comes from another requester if possible. */
  #served = ''

  constructor(options: ExportRunnerOptions) {
    this.#options = options
    this.#loop = new Loop(options.timers, () => this.#step())
  }

  wake(): void {
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.#isStopping = true
    this.#interrupt?.('stopping')
    await this.#loop.stop()
  }

  async #step(): Promise<number> {
    try {
      if (this.#options.store.hasFree()) await this.#processFree()
    } catch {
      // The store is closing, or unavailable until a later step.
    }
    return pollEveryMs
  }

  async #processFree(): Promise<void> {
    const { store, owner } = this.#options
    while (!this.#isStopping) {
      let request: ExportRequest | undefined
      // Each claim has a new owner name, so that an interrupted claim cannot affect a later claim.
      const claimant = `${owner}.${this.#claims++}`
      try {
        request = await store.claim(claimant, leaseMicros, this.#served)
        if (!request) return
        this.#served = request.requester
        await this.#work(request, claimant)
      } catch (cause) {
        if (request) this.#options.onFailure(request, cause)
        return
      }
    }
  }

  /** Processes a request until a final state or an interruption. Rejects only when the store fails. */
  async #work(request: ExportRequest, claimant: string): Promise<void> {
    const { store, timers, passedTime, timeoutMs, onFailure } = this.#options
    const { id } = request
    const controller = new AbortController()
    const { signal } = controller
    this.#interrupt = reason => controller.abort(reason)
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
    // The promise may reject when the race below does not wait for it.
    interrupted.catch(() => undefined)
    const stopRenewing = timers.every(renewEveryMs, () => this.#renew(id, claimant))
    // Not more than `timeoutMs`, even if the clock was set back after the start.
    const remainingMs = Math.min(timeoutMs, timeoutMs - (passedTime() - request.startedAt) / 1000)
    const stopTimeout = timers.after(Math.max(0, remainingMs), () => this.#interrupt?.('timed out'))
    if (this.#isStopping) this.#interrupt?.('stopping')
    if (remainingMs <= 0) this.#interrupt?.('timed out')
    try {
      if (request.attempts > attemptsMax) throw new Error(`given up after ${attemptsMax} attempts`)
      await Promise.race([this.#steps(request, claimant, signal), interrupted])
    } catch (cause) {
      const interruption = signal.aborted ? (signal.reason as Interruption) : undefined
      const isForLater = interruption === undefined && isUnavailable(cause)
      if (interruption === 'stopping' || isForLater) await store.release(id, claimant)
      else if (interruption === 'timed out') await store.advance(id, claimant, 'TimedOut')
      else if (interruption === undefined) {
        onFailure(request, cause)
        await store.advance(id, claimant, 'Failed')
      }
    } finally {
      stopRenewing()
      stopTimeout()
      this.#interrupt = undefined
    }
  }

  /** Advances a request from its current state to a final state. */
  async #steps(claimed: ExportRequest, claimant: string, signal: AbortSignal): Promise<void> {
    const { store, storage } = this.#options
    const name = fileName(claimed.id)
    let request: ExportRequest | undefined = claimed
    while (request) {
      signal.throwIfAborted()
      switch (request.state) {
        case 'Requested':
          request = await store.advance(request.id, claimant, 'Pending')
          break
        case 'Pending':
          request = await store.advance(
            request.id,
            claimant,
            (await this.#produce(request, name, signal)) ? 'CreatingNewUrl' : 'DoesNotExist',
          )
          break
        case 'CreatingNewUrl':
          request = (await storage.exists(name))
            ? await store.advance(request.id, claimant, 'Complete', await this.#url(name))
            : await store.advance(request.id, claimant, 'Pending')
          break
        default:
          return
      }
    }
  }

  /** Returns false when there are no matching records. */
  async #produce(request: ExportRequest, name: string, signal: AbortSignal): Promise<boolean> {
    const { from, to, regionGroup, database, createdAt } = request
    const filter = { from, to, regionGroup, ...databaseFilter(database) }
    const records = this.#options.records(filter, createdAt, signal)[Symbol.asyncIterator]()
    try {
      const first = await records.next()
      if (first.done) return false
      await this.#storeFile(name, prepend(first.value, records), signal)
      return true
    } finally {
      // Closes the segment file, even if only the first record was read.
      await records.return?.()
    }
  }

  async #storeFile(name: string, records: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const content = createGzip({ level: gzipLevel })
    const source = Readable.from(records, { objectMode: false })
    const failure = new AbortController()
    const either = AbortSignal.any([signal, failure.signal])
    try {
      await Promise.all([
        pipeline(source, content, { signal: either }),
        this.#options.storage.store(name, content, either),
      ])
    } catch (cause) {
      // If one of the two operations fails, the other is aborted. Otherwise, the other would wait forever.
      failure.abort()
      throw cause
    }
  }

  async #url(name: string): Promise<Partial<ExportRequest>> {
    const { storage, now, urlSeconds } = this.#options
    const expires = Math.floor(now() / 1e6) + urlSeconds
    return { url: { address: await storage.address(name, expires), expiresAt: nearestMicros(expires * 1e6) } }
  }

  #renew(id: string, claimant: string): void {
    const { store } = this.#options
    const interrupt = this.#interrupt
    store.renew(id, claimant, leaseMicros).then(
      isOurs => {
        if (!isOurs) interrupt?.('lost')
      },
      () => interrupt?.('lost'),
    )
  }
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}
