// Export requests on disk, in a small key-value store that all processes share:
//
//     R <id>               the request as JSON; ids sort by age
//     J <id>               the requester; present while the request is unfinished
//     T <subject> 00 token the request that this idempotency token created, and the creation time
//     P                    the time memory (base/removal-time.ts), which determines when old data is removed
//     S                    the key for signing URLs and page tokens
//
// Every change reads and writes in one transaction, so that two concurrent changes do not overwrite each other.

import { epoch, micros, microsPerDay } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import type { TimeMemory } from '../base/removal-time.ts'
import { RequestError } from '../base/request-errors.ts'
import { upsert } from '../base/upsert.ts'
import type { Bytes, KeyValueStore, View, Write } from '../storage/kv/kv-contract.ts'
import type { Micros } from '../values/value.ts'
import {
  type ExportRequest,
  type ExportState,
  hasExpiredUrl,
  inState,
  unfinishedStates,
} from './export-request.ts'

export const exportStoreLimits = {
  /** Maximum number of unfinished exports of one requester; own limit. */
  logExportsWaitingMax: 1000,
  /** Maximum number of exports that are read for one page of the export list; own limit. */
  logExportsReadMax: 5000,
} as const

/** The validated parameters of a client's request. */
export type ExportParameters = Pick<
  ExportRequest,
  'timeStart' | 'timeEnd' | 'from' | 'to' | 'regionGroup' | 'database' | 'requester'
>

/**
 * An idempotency token: a client sends the same token when it repeats a request. The tokens of different subjects are
 * independent.
 */
export interface IdempotencyToken {
  readonly subject: string
  readonly token: string
}

/** The maximum duration of a lease, in microseconds. */
const leaseMicrosMax: number = 60_000_000

/** The lifetime of an idempotency token, in microseconds. */
const tokenLifetime: number = microsPerDay

const requestKey = (id: string) => Buffer.from(`R${id}`)
const unfinishedKey = (id: string) => Buffer.from(`J${id}`)
const tokenKey = ({ subject, token }: IdempotencyToken) => Buffer.from(`T${subject}\0${token}`)
const timeKey = Buffer.from('P')
const signingKeyKey = Buffer.from('S')
const unfinishedRange = { start: Buffer.from('J'), end: Buffer.from('K') }
/** The end of the key range of all requests: the key `S` follows all keys that begin with `R`. */
const requestsEnd = Buffer.from('S')

interface StoredToken {
  readonly id: string
  readonly createdAt: Micros
}

const encode = (value: unknown): Bytes => Buffer.from(JSON.stringify(value))
const decode = <T>(bytes: Bytes): T => JSON.parse(Buffer.from(bytes).toString())

export class ExportStore {
  readonly #kv: KeyValueStore
  readonly #random: Random
  readonly #now: () => Micros

  constructor(kv: KeyValueStore, random: Random, now: () => Micros) {
    this.#kv = kv
    this.#random = random
    this.#now = now
  }

  /**
   * Returns the key for signing URLs and page tokens. The first call creates the key, and all processes share the key.
   */
  signingKey(): Promise<Bytes> {
    const fresh = this.#random.bytes(32)
    return this.#kv.transact(view => {
      const stored = view.get(signingKeyKey)
      return stored
        ? { result: stored, writes: [] }
        : { result: fresh, writes: [{ key: signingKeyKey, value: fresh }] }
    })
  }

  timeMemory(): TimeMemory | undefined {
    const stored = this.#kv.read(view => view.get(timeKey))
    return stored && decode<TimeMemory>(stored)
  }

  async rememberTime(memory: TimeMemory): Promise<void> {
    const writes = [{ key: timeKey, value: encode(memory) }]
    await this.#kv.transact(() => ({ result: undefined, writes }))
  }

  /**
   * Stores a new request, or returns the request that the same token created within the last 24 hours. Rejects with
   * `too many requests` when the requester has the maximum number of unfinished requests.
   */
  create(wanted: ExportParameters, idempotency: IdempotencyToken | undefined): Promise<ExportRequest> {
    const now = this.#now()
    const entropy = this.#random.hex(8)
    return this.#kv.transact(view => {
      const known = idempotency && requestOfToken(view, idempotency, now)
      if (known) return { result: known, writes: [] }
      checkUnfinished(view, wanted.requester)
      const createdAt = Math.max(now, micros(lastCreated(view) + 1))
      const request: ExportRequest = {
        id: timeOrderedUuid(createdAt, entropy),
        state: 'Requested',
        version: 1,
        ...wanted,
        createdAt,
        updatedAt: createdAt,
        startedAt: createdAt,
        attempts: 0,
      }
      const writes = writesOf(request)
      if (idempotency) {
        writes.push({ key: tokenKey(idempotency), value: encode({ id: request.id, createdAt }) })
      }
      return { result: request, writes }
    })
  }

  get(id: string): ExportRequest | undefined {
    return this.#kv.read(view => find(view, id))
  }

  /**
   * Returns at most `limit` requests, the newest first. `before`: the id of a request; only older requests are
   * returned. `next`: the value of `before` for the next page. A page may have fewer requests even if more follow,
   * because each call reads at most {@link exportStoreLimits.logExportsReadMax} requests.
   */
  newest(
    before: string | undefined,
    wanted: (request: ExportRequest) => boolean,
    limit: number,
  ): { readonly found: ExportRequest[]; readonly next: string | undefined } {
    const end = before === undefined ? requestsEnd : requestKey(before)
    return this.#kv.read(view => {
      const found: ExportRequest[] = []
      let reads = 0
      let last: string | undefined
      for (const { value } of view.range({ start: Buffer.from('R'), end, reverse: true })) {
        if (reads++ === exportStoreLimits.logExportsReadMax) return { found, next: last }
        const request = decode<ExportRequest>(value)
        if (wanted(request)) {
          if (found.length === limit) return { found, next: last }
          found.push(request)
        }
        last = request.id
      }
      return { found, next: undefined }
    })
  }

  /**
   * Claims a free request for `leaseMicros` from now. A request is free when it is unfinished and has no valid
   * lease. Requesters are served in round-robin order. `served`: the requester of the previous claim. The next
   * requester with a free request is chosen, and its oldest free request is claimed. Resolves with undefined if no
   * request is free.
   */
  claim(owner: string, leaseMicros: number, served = ''): Promise<ExportRequest | undefined> {
    const now = this.#now()
    return this.#kv.transact<ExportRequest | undefined>(view => {
      const [request] = freeInTurns(view, served, now)
      if (request === undefined) return { result: undefined, writes: [] }
      const lease = { owner, until: micros(now + leaseMicros) }
      const claimed = { ...request, lease, attempts: request.attempts + 1 }
      return { result: claimed, writes: writesOf(claimed) }
    })
  }

  hasFree(): boolean {
    return this.#kv.read(view => !freeInTurns(view, '', this.#now()).next().done)
  }

  /** Renews a lease. Resolves with false if `owner` has lost the lease to another process. */
  renew(id: string, owner: string, leaseMicros: number): Promise<boolean> {
    const until = micros(this.#now() + leaseMicros)
    return this.#changeOwned(id, owner, request => ({
      ...request,
      lease: { owner, until },
    })).then(request => request !== undefined)
  }

  /** Releases an unfinished request. The interrupted attempt is not counted. */
  async release(id: string, owner: string): Promise<void> {
    await this.#changeOwned(id, owner, ({ lease, ...request }) => ({
      ...request,
      attempts: request.attempts - 1,
    }))
  }

  /** Moves a request to another state. Resolves with undefined if `owner` has lost the lease to another process. */
  advance(
    id: string,
    owner: string,
    state: ExportState,
    changes: Partial<ExportRequest> = {},
  ): Promise<ExportRequest | undefined> {
    const now = this.#now()
    return this.#changeOwned(id, owner, request => inState(request, state, now, changes))
  }

  /**
   * Starts the creation of a new URL if the request is complete and its URL has expired. Resolves with the current
   * request.
   */
  async renewUrl(id: string): Promise<ExportRequest | undefined> {
    const now = this.#now()
    const renewed = await this.#change(id, request => {
      if (!hasExpiredUrl(request, now)) return undefined
      const changes = { version: request.version + 1, startedAt: now, attempts: 0 }
      return inState(request, 'CreatingNewUrl', now, changes)
    })
    return renewed ?? this.get(id)
  }

  /** Ids of the finished requests that were created before `time`. */
  finishedBefore(time: Micros): readonly string[] {
    return this.#kv.read(view => {
      const ids: string[] = []
      for (const { value } of view.range({ start: Buffer.from('R'), end: requestsEnd })) {
        const { id, createdAt, state } = decode<ExportRequest>(value)
        if (createdAt >= time) break
        if (!unfinishedStates.has(state)) ids.push(id)
      }
      return ids
    })
  }

  /** Deletes a finished request. Does nothing if the request is unfinished again because its URL is being renewed. */
  async forget(id: string): Promise<void> {
    await this.#kv.transact(view => {
      const request = find(view, id)
      const isFinished = request !== undefined && !unfinishedStates.has(request.state)
      return { result: undefined, writes: isFinished ? [{ key: requestKey(id), value: undefined }] : [] }
    })
  }

  /** Deletes the idempotency tokens that have expired at `now`. */
  async forgetTokens(now: Micros): Promise<void> {
    await this.#kv.transact(view => {
      const writes: Write[] = []
      for (const { key, value } of view.range({ start: Buffer.from('T'), end: Buffer.from('U') })) {
        const { createdAt } = decode<StoredToken>(value)
        if (createdAt <= now - tokenLifetime) writes.push({ key, value: undefined })
      }
      return { result: undefined, writes }
    })
  }

  #changeOwned(
    id: string,
    owner: string,
    change: (request: ExportRequest) => ExportRequest,
  ): Promise<ExportRequest | undefined> {
    return this.#change(id, request => (request.lease?.owner === owner ? change(request) : undefined))
  }

  /**
   * Replaces a request by the result of `change`, and resolves with the result. If the result is undefined, changes
   * nothing.
   */
  #change(
    id: string,
    change: (request: ExportRequest) => ExportRequest | undefined,
  ): Promise<ExportRequest | undefined> {
    return this.#kv.transact<ExportRequest | undefined>(view => {
      const request = find(view, id)
      const changed = request && change(request)
      return { result: changed, writes: changed ? writesOf(changed) : [] }
    })
  }
}

/**
 * Returns whether a lease is valid. A lease that is longer than the maximum is invalid. Such a lease was made before
 * the clock was set back.
 */
function isLeased(lease: ExportRequest['lease'], now: Micros): boolean {
  return lease !== undefined && lease.until > now && lease.until <= now + leaseMicrosMax
}

function find(view: View, id: string): ExportRequest | undefined {
  const stored = view.get(requestKey(id))
  return stored && decode<ExportRequest>(stored)
}

/**
 * Iterates over the free requests, grouped by requester. The requesters are in alphabetical order, beginning with the
 * first one after `served`; the requesters up to `served` follow at the end. The requests of one requester are sorted
 * by age, oldest first.
 */
function* freeInTurns(view: View, served: string, now: Micros): Generator<ExportRequest> {
  const idsOf = new Map<string, string[]>()
  for (const { key, value } of view.range(unfinishedRange))
    upsert(idsOf, Buffer.from(value).toString(), () => []).push(Buffer.from(key).toString().slice(1))
  const requesters = [...idsOf.keys()].sort()
  const afterServed = requesters.findIndex(requester => requester > served)
  const first = Math.max(0, afterServed)
  for (const requester of [...requesters.slice(first), ...requesters.slice(0, first)]) {
    for (const id of idsOf.get(requester) ?? []) {
      const request = find(view, id)
      if (request !== undefined && !isLeased(request.lease, now)) yield request
    }
  }
}

/** Throws `too many requests` when the requester has the maximum number of unfinished requests. */
function checkUnfinished(view: View, requester: string): void {
  const name = Buffer.from(requester)
  let unfinished = 0
  for (const { value } of view.range(unfinishedRange)) if (name.equals(value)) unfinished++
  if (unfinished < exportStoreLimits.logExportsWaitingMax) return
  const text = `Too many exports are waiting. Max: ${exportStoreLimits.logExportsWaitingMax}.`
  throw new RequestError('too many requests', text)
}

function requestOfToken(view: View, token: IdempotencyToken, now: Micros): ExportRequest | undefined {
  const stored = view.get(tokenKey(token))
  if (!stored) return undefined
  const { id, createdAt } = decode<StoredToken>(stored)
  return createdAt > now - tokenLifetime ? find(view, id) : undefined
}

function lastCreated(view: View): Micros {
  const range = { start: Buffer.from('R'), end: requestsEnd, reverse: true, limit: 1 }
  for (const { value } of view.range(range)) return decode<ExportRequest>(value).createdAt
  return epoch
}

function writesOf(request: ExportRequest): Write[] {
  const requester = unfinishedStates.has(request.state) ? Buffer.from(request.requester) : undefined
  return [
    { key: requestKey(request.id), value: encode(request) },
    { key: unfinishedKey(request.id), value: requester },
  ]
}

/**
 * UUID version 7: 48 bits of milliseconds, 12 bits of microseconds, then 62 bits of `entropy` (16 hexadecimal digits).
 */
function timeOrderedUuid(time: Micros, entropy: string): string {
  const milliseconds = Math.floor(time / 1000)
    .toString(16)
    .padStart(12, '0')
  const microseconds = (time % 1000).toString(16).padStart(3, '0')
  const variant = (8 + (Number.parseInt(entropy[0] as string, 16) & 3)).toString(16)
  const groups = [milliseconds.slice(0, 8), milliseconds.slice(8), `7${microseconds}`]
  return [...groups, variant + entropy.slice(1, 4), entropy.slice(4)].join('-')
}
