// The other end of the workers' commits, in the process that owns the commit log: commits the attempts that arrive, and
// reports their outcomes once they are durable. Outcomes of one turn of the event loop travel together, and each batch that
// becomes durable is reported to all workers, so that their streams follow.

import type { Duplex } from 'node:stream'
import { receiveFrames, sendFrame } from '../../base/frames.ts'
import type { Micros } from '../../values/value.ts'
import type { Bytes, KeyValueStore } from '../kv/contract.ts'
import { StoreUnavailableError } from '../kv/errors.ts'
import type { Attempt, AttemptHead } from './attempt.ts'
import type { CommitFailure, FromCommitter, SentAttempt, ToCommitter } from './commit-messages.ts'
import type { AttemptOwner, Commits } from './commits.ts'
import type { CommitRecord } from './last-commit.ts'
import { unpackAttempt } from './sent-attempt.ts'

export class CommitService {
  readonly #commits: Commits
  readonly #channels = new Set<WorkerChannel>()
  readonly #stopWatching: () => void

  constructor(kv: Pick<KeyValueStore, 'watch'>, commits: Commits) {
    this.#commits = commits
    this.#stopWatching = kv.watch(() => {
      for (const channel of this.#channels) if (channel.isWatching) channel.report()
    })
  }

  /** Serves a worker until its socket closes. Resolves when none of its attempts can be committed any more. */
  async serve(socket: Duplex): Promise<void> {
    const channel = new WorkerChannel(socket, this.#commits)
    this.#channels.add(channel)
    await channel.ended
    this.#channels.delete(channel)
  }

  /** Reports no more. */
  close(): void {
    this.#stopWatching()
  }
}

/** What the committer has asked a worker about an attempt. */
interface Question {
  readonly validation: PromiseWithResolvers<CommitRecord | 'stale'>
  readonly evaluation: PromiseWithResolvers<Attempt<undefined> | 'stale'>
}

class WorkerChannel {
  readonly #socket: Duplex
  readonly #commits: Commits
  readonly #questions = new Map<number, Question>()
  readonly #running = new Set<Promise<void>>()
  #committed: number[] = []
  #stale: number[] = []
  #failed: CommitFailure[] = []
  #isReporting = false
  #isWatching = false
  #isOpen = true
  readonly ended: Promise<void>

  constructor(socket: Duplex, commits: Commits) {
    this.#socket = socket
    this.#commits = commits
    socket.on('error', () => {})
    receiveFrames(socket, ({ body, head }) => this.#receive(head as ToCommitter, body))
    this.ended = new Promise(resolve => {
      socket.once('close', () => void this.#end().then(resolve))
    })
  }

  /** Whether the worker hears of commits of others, too. */
  get isWatching(): boolean {
    return this.#isWatching
  }

  /** Sends the outcomes that there are, and that commits have become durable, at the end of this turn. */
  report(): void {
    if (this.#isReporting) return
    this.#isReporting = true
    setImmediate(() => {
      this.#isReporting = false
      const [committed, stale, failed] = [this.#committed, this.#stale, this.#failed]
      this.#committed = []
      this.#stale = []
      this.#failed = []
      this.#send({ kind: 'outcomes', committed, stale, failed })
    })
  }

  #send(message: FromCommitter): void {
    if (this.#isOpen) sendFrame(this.#socket, message)
  }

  #receive(message: ToCommitter, body: readonly Bytes[]): void {
    switch (message.kind) {
      case 'attempts':
        this.#receiveAttempts(message.attempts, body)
        return
      case 'validated':
        this.#questions.get(message.id)?.validation.resolve(message.since ?? 'stale')
        return
      case 'evaluated':
        void this.#evaluated(message.id, message.head, body)
        return
      case 'watch':
        this.#isWatching = true
        return
      case 'pass time':
        this.#run(message.id, async () => {
          await this.#commits.passTime()
          this.#committed.push(message.id, 0)
        })
    }
  }

  #receiveAttempts(attempts: readonly SentAttempt[], body: readonly Bytes[]): void {
    const [first] = attempts
    // A large attempt has a frame of its own, whose body is not joined at once.
    if (attempts.length === 1 && first !== undefined) {
      this.#run(first.id, () => this.#commit(first, body))
      return
    }
    const joined = Buffer.concat(body)
    let at = 0
    for (const attempt of attempts) {
      const part = joined.subarray(at, at + attempt.bodyBytes)
      at += attempt.bodyBytes
      this.#run(attempt.id, () => this.#commit(attempt, [part]))
    }
  }

  /** Runs what has an outcome; a failure is reported. */
  #run(id: number, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        const outcome = error instanceof StoreUnavailableError ? error.outcome : 'bug'
        this.#failed.push({ id, outcome, reason: error instanceof Error ? error.message : String(error) })
      })
      .finally(() => {
        this.#running.delete(running)
        this.#questions.delete(id)
        this.report()
      })
    this.#running.add(running)
  }

  async #commit(
    { head, id, mayEvaluate, notBefore, seen }: SentAttempt,
    body: readonly Bytes[],
  ): Promise<void> {
    const attempt = await unpackAttempt(head, body)
    const owner: AttemptOwner<undefined> = {
      validate: () => this.#ask({ kind: 'validate', id }).validation.promise,
      ...(mayEvaluate && {
        evaluateAt: (time: Micros) => this.#ask({ kind: 'evaluate', id, time }).evaluation.promise,
      }),
    }
    const outcome = await this.#commits.commit(attempt, { notBefore, seen, owner })
    if (outcome === 'stale') this.#stale.push(id)
    else this.#committed.push(id, outcome.time)
  }

  #ask(message: Extract<FromCommitter, { readonly id: number }>): Question {
    const question: Question = {
      validation: Promise.withResolvers(),
      evaluation: Promise.withResolvers(),
    }
    if (!this.#isOpen) endQuestion(question)
    this.#questions.set(message.id, question)
    this.#send(message)
    return question
  }

  async #evaluated(id: number, head: AttemptHead | undefined, body: readonly Bytes[]): Promise<void> {
    const question = this.#questions.get(id)
    question?.evaluation.resolve(head === undefined ? 'stale' : await unpackAttempt(head, body))
  }

  async #end(): Promise<void> {
    this.#isOpen = false
    for (const question of this.#questions.values()) endQuestion(question)
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}

/** The worker has ended: its attempt is stale. */
function endQuestion({ evaluation, validation }: Question): void {
  evaluation.resolve('stale')
  validation.resolve('stale')
}
