// Commits of a worker: it sends its attempts to the process that owns the commit log, over a socket that leads to that one
// process. So no other process ever commits them: when the socket closes, an attempt without an outcome may have been
// committed or not, and is never committed later.

import type { Duplex } from 'node:stream'
import { megabyte } from '../../base/bytes.ts'
import { receiveFrames, sendFrame } from '../../base/frames.ts'
import { micros } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import type { Bytes } from '../kv/contract.ts'
import { StoreUnavailableError } from '../kv/errors.ts'
import { Listeners } from '../kv/listeners.ts'
import type { Attempt } from './attempt.ts'
import type { CommitFailure, FromCommitter, SentAttempt, ToCommitter } from './commit-messages.ts'
import type { AttemptOwner, Commits, CommitTerms } from './commits.ts'
import type { Reevaluation } from './committer.ts'
import type { TransactionOutcome } from './contract.ts'
import { packAttempt } from './sent-attempt.ts'

/** An attempt without an outcome. */
interface PendingCommit {
  readonly owner: AttemptOwner<unknown> | undefined
  /** What is committed: the attempt, or the one of its second evaluation. */
  attempt: Attempt<unknown> | undefined
  retries: number
  /** What the second evaluation has thrown. */
  failure: { readonly error: unknown } | undefined
  readonly resolve: (outcome: TransactionOutcome<unknown> | 'stale') => void
  readonly reject: (error: unknown) => void
}

/** A frame of attempts is sent when their bodies have so many bytes. */
const frameBytes = megabyte / 4

/** The way from a worker to the process that owns the commit log. */
export class CommitChannel {
  readonly #socket: Duplex
  readonly #listeners = new Listeners()
  readonly #pending = new Map<number, PendingCommit>()
  #outgoing: SentAttempt[] = []
  #bodies: Bytes[] = []
  #bytes = 0
  #newestId = 0
  #isOpen = true
  #isWatching = false
  /** Resolves when the socket has closed. */
  readonly closed: Promise<void>

  constructor(socket: Duplex) {
    this.#socket = socket
    socket.on('error', () => {})
    receiveFrames(socket, ({ head }) => this.#receive(head as FromCommitter))
    this.closed = new Promise(resolve => {
      socket.once('close', () => {
        this.#fail()
        resolve()
      })
    })
  }

  /** Calls `listener` when commits of any process have become durable; returns the way to stop. */
  watch(listener: () => void): () => void {
    if (!this.#isWatching) this.#tell({ kind: 'watch' })
    this.#isWatching = true
    return this.#listeners.add(listener)
  }

  /** The commits of this process, whose transactions are evaluated once more by `reevaluation`. */
  commits({ attemptAt, validated }: Pick<Reevaluation, 'attemptAt' | 'validated'>): Commits {
    return {
      commit: (attempt, terms) => {
        const { again } = terms
        const own = {
          validate: async () => validated(attempt),
          ...(again && { evaluateAt: async (time: Micros) => attemptAt(again, time) }),
        }
        return this.#send(attempt, { ...terms, owner: terms.owner ?? own })
      },
      passTime: async () => {
        await this.#request(undefined, undefined, id => this.#tell({ kind: 'pass time', id }))
      },
    }
  }

  /** Ends the connection after what is pending. */
  async close(): Promise<void> {
    while (this.#pending.size > 0 && this.#isOpen)
      await Promise.race([this.closed, ...[...this.#pending.values()].map(() => turn())])
    this.#socket.end()
  }

  #send<T>(
    attempt: Attempt<T>,
    { notBefore, owner, seen }: CommitTerms<T>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const outcome = this.#request(attempt, owner as AttemptOwner<unknown> | undefined, id => {
      const { body, head } = packAttempt(attempt)
      const mayEvaluate = owner?.evaluateAt !== undefined
      this.#add({ id, notBefore, seen, mayEvaluate, head, bodyBytes: body.length }, body)
    })
    return outcome as Promise<TransactionOutcome<T> | 'stale'>
  }

  #request(
    attempt: Attempt<unknown> | undefined,
    owner: AttemptOwner<unknown> | undefined,
    send: (id: number) => void,
  ): Promise<TransactionOutcome<unknown> | 'stale'> {
    if (!this.#isOpen) return Promise.reject(lostConnection('not committed'))
    const id = ++this.#newestId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { attempt, owner, retries: 0, failure: undefined, resolve, reject })
      send(id)
    })
  }

  #add(attempt: SentAttempt, body: Bytes): void {
    if (this.#outgoing.length === 0) setImmediate(() => this.#flush())
    this.#outgoing.push(attempt)
    this.#bodies.push(body)
    this.#bytes += body.length
    if (this.#bytes >= frameBytes) this.#flush()
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return
    const [attempts, bodies] = [this.#outgoing, this.#bodies]
    this.#outgoing = []
    this.#bodies = []
    this.#bytes = 0
    this.#tell({ kind: 'attempts', attempts }, bodies)
  }

  #tell(message: ToCommitter, body?: readonly Bytes[]): void {
    if (this.#isOpen) sendFrame(this.#socket, message, body)
  }

  #receive(message: FromCommitter): void {
    switch (message.kind) {
      case 'outcomes': {
        const { committed, failed, stale } = message
        for (let at = 0; at < committed.length; at += 2)
          this.#committed(committed[at] as number, micros(committed[at + 1] as number))
        for (const id of stale) this.#stale(id)
        for (const failure of failed) this.#failed(failure)
        // After the promises, as the engines do: a stream is not told before the client that wrote.
        this.#listeners.notify()
        return
      }
      case 'validate':
        void this.#validate(message.id)
        return
      case 'evaluate':
        void this.#evaluate(message.id, message.time)
    }
  }

  #committed(id: number, time: Micros): void {
    const pending = this.#take(id)
    if (pending === undefined) return
    const { attempt, resolve, retries } = pending
    const { counters, result } = attempt ?? { counters: undefined, result: undefined }
    resolve({ result, time, counters, retries } as TransactionOutcome<unknown>)
  }

  #stale(id: number): void {
    const pending = this.#take(id)
    if (pending?.failure) pending.reject(pending.failure.error)
    else pending?.resolve('stale')
  }

  #failed({ id, outcome, reason }: CommitFailure): void {
    const options = outcome === 'unknown' ? { outcome } : {}
    this.#take(id)?.reject(outcome === 'bug' ? new Error(reason) : new StoreUnavailableError(reason, options))
  }

  #take(id: number): PendingCommit | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  async #validate(id: number): Promise<void> {
    try {
      const since = await this.#pending.get(id)?.owner?.validate()
      this.#tell({ kind: 'validated', id, ...(since !== undefined && { since }) })
    } catch {
      // The process that has made the attempt has ended.
      this.#tell({ kind: 'validated', id })
    }
  }

  async #evaluate(id: number, time: Micros): Promise<void> {
    const pending = this.#pending.get(id)
    try {
      const attempt = await pending?.owner?.evaluateAt?.(time)
      if (pending === undefined || attempt === undefined || attempt === 'stale')
        return this.#tell({ kind: 'evaluated', id })
      pending.attempt = attempt
      pending.retries = 1
      const { body, head } = packAttempt(attempt)
      this.#tell({ kind: 'evaluated', id, head }, [body])
    } catch (error) {
      if (pending) pending.failure = { error }
      this.#tell({ kind: 'evaluated', id })
    }
  }

  #fail(): void {
    this.#isOpen = false
    for (const { reject } of this.#pending.values()) reject(lostConnection('unknown'))
    this.#pending.clear()
  }
}

function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}

function lostConnection(outcome: CommitFailure['outcome']): StoreUnavailableError {
  const text = 'the process that commits has ended'
  return new StoreUnavailableError(text, outcome === 'unknown' ? { outcome } : {})
}
