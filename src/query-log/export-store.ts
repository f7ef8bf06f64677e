// Export requests on disk, in a small key-value store of their own that all processes share:
//
//     R <id>               the request as JSON; ids sort by age
//     J <id>               present while there is work on it: who asked for it
//     T <subject> 00 token the idempotency token's request and when it was made
//     P                    how time passed, for what is removed because of its age
//     S                    the key that URLs and page tokens are signed with
//
// Every change reads and writes in one transaction, so two processes never both win.

import { microsPerDay } from '../base/durations.ts'
import { epoch, micros } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import type { TimeMemory } from '../base/removal-time.ts'
import { upsert } from '../base/upsert.ts'
import { RequestError } from '../errors.ts'
import type { Bytes, KeyValueStore, View, Write } from '../kv/contract.ts'
import { limits } from '../limits.ts'
import type { Micros } from '../values/value.ts'
import {
  type ExportRequest,
  type ExportState,
  hasExpiredUrl,
  inState,
  unfinishedStates,
} from './export-request.ts'

/** What a client asks for, checked. */
export type ExportParameters = Pick<
  ExportRequest,
  'timeStart' | 'timeEnd' | 'from' | 'to' | 'regionGroup' | 'database' | 'requester'
>

/** A client's promise that equal tokens mean the same request; `subject` keeps clients apart. */
export interface IdempotencyToken {
  readonly subject: string
  readonly token: string
}

/** No lease is longer, in microseconds. */
const leaseMicrosMax: number = 60_000_000

/** Microseconds that an idempotency token counts. */
const tokenLifetime: number = microsPerDay

const requestKey = (id: string) => Buffer.from(`R${id}`)
const jobKey = (id: string) => Buffer.from(`J${id}`)
const tokenKey = ({ subject, token }: IdempotencyToken) => Buffer.from(`T${subject}\0${token}`)
const timeKey = Buffer.from('P')
const signingKeyKey = Buffer.from('S')
const jobs = { start: Buffer.from('J'), end: Buffer.from('K') }
/** `S` follows `R`: the end of all requests. */
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

  /** The key that signs URLs and page tokens: made once, the same in all processes. */
  signingKey(): Promise<Bytes> {
    const fresh = this.#random.bytes(32)
    return this.#kv.transact(view => {
      const stored = view.get(signingKeyKey)
      return stored
        ? { result: stored, writes: [] }
        : { result: fresh, writes: [{ key: signingKeyKey, value: fresh }] }
    })
  }

  /** What was remembered of how time passed; see base/removal-time.ts. */
  timeMemory(): TimeMemory | undefined {
    const stored = this.#kv.read(view => view.get(timeKey))
    return stored && decode<TimeMemory>(stored)
  }

  /** Remembers how time passed. */
  async rememberTime(memory: TimeMemory): Promise<void> {
    const writes = [{ key: timeKey, value: encode(memory) }]
    await this.#kv.transact(() => ({ result: undefined, writes }))
  }

  /**
   * Stores a new request, or returns the one that the same token made within the last 24 hours. Throws `too many requests`
   * when as many of the same requester wait as may.
   */
  create(wanted: ExportParameters, idempotency: IdempotencyToken | undefined): Promise<ExportRequest> {
    const now = this.#now()
    const entropy = this.#random.hex(8)
    return this.#kv.transact(view => {
      const known = idempotency && requestOfToken(view, idempotency, now)
      if (known) return { result: known, writes: [] }
      checkWaiting(view, wanted.requester ?? '')
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
   * Requests from the newest on, those made before `before` (an id) when that is given, at most `limit`. Looks at a bounded
   * number of requests, as others may have made very many; `next` is where to go on.
   */
  newest(
    before: string | undefined,
    wanted: (request: ExportRequest) => boolean,
    limit: number,
  ): { readonly found: ExportRequest[]; readonly next: string | undefined } {
    const end = before === undefined ? requestsEnd : requestKey(before)
    return this.#kv.read(view => {
      const found: ExportRequest[] = []
      let looks = 0
      let last: string | undefined
      for (const { value } of view.range({ start: Buffer.from('R'), end, reverse: true })) {
        if (looks++ === limits.logExportsLooksMax) return { found, next: last }
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
   * Takes a request that no worker has, for `leaseMicros` from now; a lease that has run out counts for nothing. Requesters
   * take turns: the oldest of the first one behind `served`, in a circle.
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

  /** Whether a request waits for a worker. */
  hasFree(): boolean {
    return this.#kv.read(view => !freeInTurns(view, '', this.#now()).next().done)
  }

  /** Renews a lease; false when another worker has the request by now. */
  renew(id: string, owner: string, leaseMicros: number): Promise<boolean> {
    const until = micros(this.#now() + leaseMicros)
    return this.#changeOwned(id, owner, request => ({
      ...request,
      lease: { owner, until },
    })).then(request => request !== undefined)
  }

  /** Gives a request back unfinished; working on it so far was no failure of its own. */
  async release(id: string, owner: string): Promise<void> {
    await this.#changeOwned(id, owner, ({ lease, ...request }) => ({
      ...request,
      attempts: request.attempts - 1,
    }))
  }

  /** Moves a request on; undefined when another worker has it by now. */
  advance(
    id: string,
    owner: string,
    state: ExportState,
    changes: Partial<ExportRequest> = {},
  ): Promise<ExportRequest | undefined> {
    const now = this.#now()
    return this.#changeOwned(id, owner, request => inState(request, state, now, changes))
  }

  /** Asks for a new URL of a complete request whose URL has expired; returns the request as it is then. */
  async renewUrl(id: string): Promise<ExportRequest | undefined> {
    const now = this.#now()
    const renewed = await this.#change(id, request => {
      if (!hasExpiredUrl(request, now)) return undefined
      const changes = { version: request.version + 1, startedAt: now, attempts: 0 }
      return inState(request, 'CreatingNewUrl', now, changes)
    })
    return renewed ?? this.get(id)
  }

  /** The requests made before `time` that no worker has any more. */
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

  /** Forgets a request, unless it was put back for work. */
  async forget(id: string): Promise<void> {
    await this.#kv.transact(view => {
      const request = find(view, id)
      const isFinished = request !== undefined && !unfinishedStates.has(request.state)
      return { result: undefined, writes: isFinished ? [{ key: requestKey(id), value: undefined }] : [] }
    })
  }

  /** Forgets the idempotency tokens that no longer count at `now`. */
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

  /** Changes a request, unless `change` leaves it as it is; resolves with the changed one. */
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

/** Whether a lease counts. One that reaches further than leases do is from before the clock was set back. */
function isHeld(lease: ExportRequest['lease'], now: Micros): boolean {
  return lease !== undefined && lease.until > now && lease.until <= now + leaseMicrosMax
}

function find(view: View, id: string): ExportRequest | undefined {
  const stored = view.get(requestKey(id))
  return stored && decode<ExportRequest>(stored)
}

/** Requests that no worker has, looked up as they are asked for: requesters behind `served` first, of each the oldest first. */
function* freeInTurns(view: View, served: string, now: Micros): Generator<ExportRequest> {
  const idsOf = new Map<string, string[]>()
  for (const { key, value } of view.range(jobs))
    upsert(idsOf, Buffer.from(value).toString(), () => []).push(Buffer.from(key).toString().slice(1))
  const requesters = [...idsOf.keys()].sort()
  const behind = requesters.findIndex(requester => requester > served)
  const first = Math.max(0, behind)
  for (const requester of [...requesters.slice(first), ...requesters.slice(0, first)]) {
    for (const id of idsOf.get(requester) ?? []) {
      const request = find(view, id)
      if (request !== undefined && !isHeld(request.lease, now)) yield request
    }
  }
}

/** Throws `too many requests` when no more of a requester may wait. */
function checkWaiting(view: View, requester: string): void {
  const name = Buffer.from(requester)
  let waiting = 0
  for (const { value } of view.range(jobs)) {
    if (name.equals(value)) waiting++
  }
  if (waiting < limits.logExportsWaitingMax) return
  const text = `So many exports wait already. Max: ${limits.logExportsWaitingMax}.`
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
  const job = unfinishedStates.has(request.state) ? Buffer.from(request.requester ?? '') : undefined
  return [
    { key: requestKey(request.id), value: encode(request) },
    { key: jobKey(request.id), value: job },
  ]
}

/** UUID version 7: 48 bits of milliseconds, 10 of microseconds, then 62 of `entropy` (16 hexadecimal digits). */
function timeOrderedUuid(time: Micros, entropy: string): string {
  const milliseconds = Math.floor(time / 1000)
    .toString(16)
    .padStart(12, '0')
  const micros = (time % 1000).toString(16).padStart(3, '0')
  const variant = (8 + (Number.parseInt(entropy[0] as string, 16) & 3)).toString(16)
  const groups = [milliseconds.slice(0, 8), milliseconds.slice(8), `7${micros}`]
  return [...groups, variant + entropy.slice(1, 4), `${entropy.slice(4)}`.padEnd(12, '0')].join('-')
}
