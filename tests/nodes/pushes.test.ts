// A push in the slow lane of one node while another node commits. Each of these commits conflicts with the push, until
// the push is evaluated under the lock of the record.

import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { before, describe, test } from 'node:test'
import { Ticket } from '../../src/base/admission/ticket.ts'
import { receiveFrames, sendFrame } from '../../src/base/frames.ts'
import { limits } from '../../src/base/limits.ts'
import { epoch, micros } from '../../src/base/micros.ts'
import type { Engine, QueryRequest, QueryResponse } from '../../src/engine/engine-contract.ts'
import type { FromLane, ToLane } from '../../src/engine/slow-lane/messages.ts'
import { PendingJob } from '../../src/engine/slow-lane/pending-job.ts'
import { LaneService } from '../../src/engine/slow-lane/serve-jobs.ts'
import { Leads, type SlowLane } from '../../src/engine/slow-lane-contract.ts'
import { runSlowly } from '../../src/engine/slow-run.ts'
import type { Attempt } from '../../src/storage/store/attempt.ts'
import { unpackAttempt } from '../../src/storage/store/sent-attempt.ts'
import { ContendedTransaction, type Transaction } from '../../src/storage/store/store-contract.ts'
import { native, type Ref, rootDatabase, TransactionTime } from '../../src/values/value.ts'
import { noPostgres } from '../support/postgres.ts'
import { createCollection, data, documentRef } from '../unit/storage/store/support.ts'
import { type NodeStore, pairOfFile } from './in-process.ts'

const request = { language: '10', dialect: '10', authorization: 'x', timeoutMs: 60_000 } as const
const empty: QueryResponse = {
  status: 200,
  body: '',
  txnTime: epoch,
  metrics: undefined,
  database: undefined,
}
/** More retries than are needed until a push takes its turn. */
const retriesMax = 2 * limits.contentionRetriesDefault

interface Lane extends Disposable {
  readonly run: (retriesBeforeLock?: number) => Promise<QueryResponse>
}

/** On a busy machine, an evaluation may take longer than a push may take that takes its turn. */
const shortEvaluation = { evaluationMicros: 1000 }

/** The slow lane of a node with a query in it. `onKept` runs between the query's evaluation and its commit. */
function laneOf(
  { store }: NodeStore,
  work: (transaction: Transaction) => string,
  onKept: () => Promise<unknown>,
  facts: Partial<Attempt<unknown>> = {},
): Lane {
  const [lane, service] = duplexPair()
  const again = (transaction: Transaction) => ({ body: work(transaction) })
  const engine = {
    query: async ({ stampTime }: QueryRequest) => {
      const attempt = store.attempt(again, epoch, stampTime)
      const { body } = attempt.result
      const sent = { ...attempt, result: undefined, ...shortEvaluation, ...facts }
      return { ...empty, body, attempt: sent, again }
    },
    completed: (_: QueryRequest, { body }: QueryResponse) => body,
  } as unknown as Engine
  const open = async () => ({ engine, store, isExhausted: () => false, takeOutOfMemory: () => false })
  const process = new LaneService<undefined>(lane, open)
  assert.ok(!process.hasJobs)
  let pending: PendingJob | undefined
  let onOutcome: (response: QueryResponse & { pending?: PendingJob }) => void = () => undefined
  const send = (message: ToLane, body: readonly Uint8Array[] = []) => sendFrame(service, message, body)
  const logSequence = () => 0
  const ignore = () => undefined
  const receive = async (message: FromLane, body: readonly Uint8Array[]) => {
    if (message.kind === 'attempt') {
      const attempt = await unpackAttempt(message.head, body)
      const job = new PendingJob({ attempt, logSequence, send, onCommit: ignore, onOver: ignore })
      pending = job
      await onKept()
      onOutcome({ ...message.response, pending: job })
    } else if (message.kind === 'validated') pending?.onValidated(message.since)
    else if (message.kind === 'evaluated')
      pending?.onEvaluated(message.head ? await unpackAttempt(message.head, body) : 'stale')
    else if (message.kind === 'response')
      pending?.onResponse({ ...message.response, body: Buffer.concat(body).toString() })
    else assert.equal(message.kind, 'ready')
  }
  receiveFrames(service, ({ head, body }) => void receive(head as FromLane, body))
  send({ kind: 'setup', setup: undefined })
  const slowLane = {
    leads: new Leads(),
    run: () =>
      new Promise(resolve => {
        onOutcome = resolve
        const now = store.now()
        send({
          kind: 'job',
          request,
          form: 'none',
          snapshotTime: epoch,
          logSequence: 0,
          now,
          commitLeadMicros: 60_000_000,
        })
      }),
  } as unknown as SlowLane
  const timers = {
    after: (_: number, callback: () => void) => {
      setImmediate(callback)
      return () => undefined
    },
    every: () => () => undefined,
  }
  const job = () => ({
    request: { ...request, body: '' },
    queue: 'a',
    snapshotTime: epoch,
    timeoutMs: 60_000,
    now: () => store.now(),
    commitLeadMicros: 0,
    ticket: new Ticket(''),
  })
  const common = { slowLane, store, timers, job, retriesMax }
  const checks = { requireInTime: () => undefined, checkCosts: () => undefined }
  return {
    run: retriesBeforeLock =>
      runSlowly({ ...common, ...checks, ...(retriesBeforeLock !== undefined && { retriesBeforeLock }) }),
    [Symbol.dispose]: () => {
      lane.destroy()
      service.destroy()
    },
  }
}

describe('pushes over nodes', { skip: noPostgres }, () => {
  const nodes = pairOfFile()
  let jars: Ref
  let tries = 0

  before(async () => {
    jars = (await nodes.a.store.write(transaction => createCollection(transaction, 'jars'))).result
    await nodes.b.kv.ready(Number.POSITIVE_INFINITY)
  })

  let count = 0n
  /** Another node writes the document that the push reads. */
  const touch = () =>
    nodes.b.store.write(transaction => transaction.put(documentRef(jars, 1), data({ n: ++count })))

  /**
   * Reads the touched document, creates a collection, and records the time of its commit, as steps of a migration do.
   */
  const push = (transaction: Transaction): string => {
    const found = transaction.get(documentRef(jars, 1))?.fields.get('data')
    const name = `pushed${++tries}`
    createCollection(transaction, name)
    transaction.put(documentRef(jars, 2), data({ at: TransactionTime.micros }))
    return `${name}: ${found instanceof Map ? found.get('n') : 'nothing'}`
  }

  test('a push is evaluated under the lock after the usual retries, and sees the last commit', async () => {
    tries = 0
    using lane = laneOf(nodes.a, push, touch)
    const { body } = await lane.run(limits.contentionRetriesDefault)
    const evaluations = limits.contentionRetriesDefault + 2
    assert.equal(body, `pushed${evaluations}: ${count}`)
    assert.equal(tries, evaluations)
    assert.equal(count, BigInt(limits.contentionRetriesDefault + 1))
    const found = ({ catalogue }: Transaction) =>
      catalogue.resolve(rootDatabase, native.collections, `pushed${evaluations}`)
    assert.ok(nodes.a.store.read(found).result)
  })

  test('a push that fails under the lock is evaluated outside of it once more', async () => {
    tries = 100
    let isOver = false
    const failing = (transaction: Transaction) => {
      if (tries === 106 && !isOver) {
        isOver = true
        throw new Error('only under the lock')
      }
      return push(transaction)
    }
    using lane = laneOf(nodes.a, failing, touch)
    assert.match((await lane.run(limits.contentionRetriesDefault)).body, /^pushed10\d: /)
  })

  for (const [what, facts, retriesBeforeLock] of [
    ['a query that leaves the schema as it is', { changesSchema: false }, limits.contentionRetriesDefault],
    ['a push that takes long', { evaluationMicros: 500_001 }, limits.contentionRetriesDefault],
    ['a push whose client names a number of tries', {}, undefined],
  ] as const) {
    test(`${what} takes no turn`, async () => {
      using lane = laneOf(nodes.a, push, touch, facts)
      await assert.rejects(lane.run(retriesBeforeLock), ContendedTransaction)
    })
  }

  test('without contention the first attempt is committed', async () => {
    tries = 200
    using lane = laneOf(nodes.a, push, () => Promise.resolve(micros(0)))
    assert.equal((await lane.run(0)).body, `pushed201: ${count}`)
  })
})
