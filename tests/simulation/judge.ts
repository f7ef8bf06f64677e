// Decides whether a correct database could have given all responses: runs the queries against a plain model, in the
// order of their transaction times. Clients must also have been able to observe this order: no request may be ordered
// before a response that the client had received before the request began.

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { micros } from '../../src/base/micros.ts'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import type { CommittedTransaction } from '../../src/storage/store/store-contract.ts'
import { firstUserCollection } from '../../src/values/value.ts'
import { type Model, ModelTransaction, Refusal } from '../support/model.ts'
import type { Outcome } from '../support/seeded-store.ts'
import type { Operation } from './operations.ts'

/** A request with its response. */
export interface Request {
  readonly operation: Operation
  /** The newest time in any response before the request began. */
  readonly notBefore: number
  answer: QueryResponse | undefined
  /** The outcome of the request's commit, if a fault was injected. */
  fault: Outcome | undefined
}

/** A request with its position in the order. */
interface OrderedRequest {
  readonly request: Request
  readonly time: number
  /** The response to the client; undefined if the service has written but the client got an error. */
  readonly response: QueryResponse | undefined
}

/** Throws at the first response that does not fit. `changes` is the whole change log. */
export function judge(
  requests: readonly Request[],
  model: Model,
  changes: readonly CommittedTransaction[],
): void {
  const log = new Map(changes.map(each => [each.time, each]))
  const placed = requests.flatMap(request => place(request))
  const times = [...new Set(placed.map(each => each.time))].sort((left, right) => left - right)
  const byTime = Map.groupBy(placed, each => each.time)
  const commits = new Set<number>()
  for (const time of times) {
    const group = byTime.get(time) ?? []
    const writer = group.find(each => isWriter(each, model, log.get(micros(time))))
    if (writer) commits.add(time)
    for (const each of group) if (each !== writer) checkReader(each, model)
  }
  checkLog(changes, commits, placed)
  checkOrder(placed, commits)
}

function place(request: Request): OrderedRequest[] {
  const { answer, fault, operation } = request
  assert.ok(answer, `${operation.name} was never answered`)
  if (answer.status < 500) {
    return [{ request, time: answer.txnTime, response: answer }]
  }
  assert.ok(fault, `${operation.name} met an internal error: ${answer.body}`)
  if (fault.commitTime === undefined) return []
  return [{ request, time: fault.commitTime, response: undefined }]
}

/** True if the request is the one that committed at its time. The model then applies its writes. */
function isWriter(
  { request, time, response }: OrderedRequest,
  model: Model,
  logged: CommittedTransaction | undefined,
): boolean {
  if (response && response.status >= 300) return false
  const given = response ? resourceOf(response) : inventedAnswer(logged)
  const transaction = new ModelTransaction(model, time - 1)
  try {
    const expected = request.operation.predict(transaction, given)
    if (!transaction.hasWritten || (response && !isDeepStrictEqual(expected, given))) return false
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
  const names = transaction.written.map(name => String(name.id)).sort()
  const logNames = logged?.changes.filter(isOfUsers).map(change => String(change.ref.id))
  if (names.length > 0)
    assert.deepEqual(logNames?.sort(), names, `the change log contains ${request.operation.name}`)
  transaction.commit()
  return true
}

/** Rebuilds the parts of a lost response that the rules of the operation need. */
function inventedAnswer(logged: CommittedTransaction | undefined): unknown {
  return { ref: { '@ref': { id: String(logged?.changes[0]?.ref.id) } } }
}

function checkReader({ request, time, response }: OrderedRequest, model: Model): void {
  const { operation } = request
  const where = `${operation.name} at ${time}`
  assert.ok(response, `${where} has written what no rule allows`)
  const succeeded = response.status < 300
  const transaction = new ModelTransaction(model, time)
  let expected: unknown
  try {
    expected = operation.predict(transaction, succeeded ? resourceOf(response) : undefined)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const code = succeeded ? undefined : JSON.parse(response.body).errors[0].code
    const given = { status: response.status, code }
    assert.deepEqual(given, { status: error.status, code: error.code }, `${where}: ${response.body}`)
    return
  }
  assert.ok(succeeded, `${where} failed: ${response.body}`)
  assert.deepEqual(resourceOf(response), expected, where)
  assert.ok(!transaction.hasWritten, `${where} should have written, at a time of its own`)
}

/** A request that begins after a response sees every commit that the response may have shown. */
function checkOrder(placed: readonly OrderedRequest[], commits: ReadonlySet<number>): void {
  const sorted = [...commits].sort((left, right) => left - right)
  for (const { request, time } of placed) {
    const seen = sorted.findLast(commit => commit <= request.notBefore) ?? 0
    assert.ok(
      time >= seen,
      `${request.operation.name} at ${time} missed the commit at ${seen}, which a client had seen`,
    )
  }
}

/** Checks that only the requests have written to user collections. */
function checkLog(
  changes: readonly CommittedTransaction[],
  commits: ReadonlySet<number>,
  placed: readonly OrderedRequest[],
): void {
  const [opening, ...others] = changes.filter(each => each.changes.some(isOfUsers))
  assert.ok(opening !== undefined)
  const unclaimed = others.filter(each => !commits.has(each.time))
  const response = unclaimed.map(({ changes, time }) => {
    const ids = changes.filter(isOfUsers).map(({ ref }) => ref.id)
    const then = placed.filter(each => each.time === time)
    const answers = then.map(({ request, response }) => `${request.operation.name}: ${response?.body}`)
    return `documents ${ids.join(', ')} at ${time}, when was answered: ${answers.join('; ') || 'nothing'}`
  })
  assert.deepEqual(response, [], 'writes that belong to no response')
}

const isOfUsers = ({ ref }: CommittedTransaction['changes'][number]): boolean =>
  ref.collection >= firstUserCollection

function resourceOf(answer: QueryResponse): unknown {
  return JSON.parse(answer.body).resource
}
