// Errors arrive as the classes of the driver `fauna` that applications catch, with all their details.

import assert from 'node:assert/strict'
import {
  AbortError,
  AuthenticationError,
  Client,
  ClientClosedError,
  fql,
  InvalidRequestError,
  QueryCheckError,
  QueryRuntimeError,
  QueryTimeoutError,
  type ServiceError,
} from 'fauna'
import { patience } from '../support/patience.ts'
import { driver10Tests } from './app.ts'

const driverTest = driver10Tests()

type ErrorClass<E> = abstract new (...words: never[]) => E

/** Awaits a query that must fail with an error class of the driver, and returns the error. */
async function failureOf<E extends ServiceError>(
  query: Promise<unknown>,
  errorClass: ErrorClass<E>,
): Promise<E> {
  const error: unknown = await query.then(
    () => assert.fail('the query did not fail'),
    reason => reason,
  )
  assert.ok(error instanceof errorClass, `${error} is not a ${errorClass.name}`)
  return error
}

driverTest('a query with a syntax error or an unknown name fails', async app => {
  const client = app.client()
  const unreadable = await failureOf(client.query(fql`1 +`), QueryCheckError)
  assert.equal(unreadable.code, 'invalid_query')
  assert.equal(unreadable.httpStatus, 400)
  const summary = 'error: Expected expression\nat *query*:1:4\n  |\n1 | 1 +\n  |    ^\n  |'
  assert.equal(unreadable.queryInfo?.summary, summary)
  const unbound = await failureOf(client.query(fql`1 + missing`), QueryRuntimeError)
  assert.equal(unbound.code, 'unbound_variable')
  assert.match(unbound.queryInfo?.summary ?? '', /^1 \| 1 \+ missing\n {2}\| {5}\^{7}$/m)
})

driverTest('a query that fails at run time has an error code', async app => {
  const failed = await failureOf(app.client().query(fql`${4} / 0`), QueryRuntimeError)
  assert.equal(failed.code, 'divide_by_zero')
  assert.equal(failed.message, 'Attempted integer division by zero.')
  assert.ok(failed.queryInfo?.txn_ts !== undefined && failed.queryInfo.stats !== undefined)
})

driverTest('the error of an aborted query contains its value', async app => {
  const aborted = await failureOf(app.client().query(fql`abort({ reason: "sold out", left: 0 })`), AbortError)
  assert.equal(aborted.httpStatus, 400)
  assert.deepEqual(aborted.abort, { reason: 'sold out', left: 0 })
})

driverTest('an invalid secret is an AuthenticationError', async app => {
  const rejected = await failureOf(app.client({ secret: 'wrong' }).query(fql`1`), AuthenticationError)
  assert.equal(rejected.code, 'unauthorized')
  assert.equal(rejected.httpStatus, 401)
})

driverTest('an invalid request is an InvalidRequestError', async app => {
  const client = app.client()
  const tags = await failureOf(
    client.query(fql`1`, { query_tags: { 'bad name!': 'x' } }),
    InvalidRequestError,
  )
  assert.equal(tags.httpStatus, 400)
  const retries = await failureOf(client.query(fql`1`, { max_contention_retries: 1000 }), InvalidRequestError)
  assert.match(retries.message, /x-max-contention-retries/)
})

driverTest('a query beyond its time limit is a QueryTimeoutError', async app => {
  // The client waits longer for the response than the query may run.
  const client = app.client({ query_timeout_ms: 1, client_timeout_buffer_ms: patience(30_000) })
  const slow = fql`Set.sequence(0, 15000).map(i => Array.sequence(0, 1000).fold(0, (a, b) => a + b)).count()`
  const late = await failureOf(client.query(slow), QueryTimeoutError)
  // 503 if the error is later than a second after the arrival of the query, for example on a busy machine.
  assert.ok(late.httpStatus === 440 || late.httpStatus === 503, String(late.httpStatus))
  assert.equal(late.code, 'time_out')
})

driverTest('a closed client rejects queries', async app => {
  // This client is not from the app, because the app would close it a second time.
  const client = new Client({ endpoint: new URL(app.server.url), secret: app.secret })
  await client.query(fql`1`)
  client.close()
  await assert.rejects(client.query(fql`1`), ClientClosedError)
})

driverTest('a feed of an unsupported set fails', async app => {
  const feed = app.client().feed(fql`Set.sequence(0, 1).eventSource()`)
  await assert.rejects(feed.nextPage())
})
