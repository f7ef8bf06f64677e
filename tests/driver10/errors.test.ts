// What goes wrong arrives as the class of the driver `fauna` that applications catch, with everything it knows.

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
import { driver10Tests } from './app.ts'

const driverTest = driver10Tests()

type ErrorClass<E> = abstract new (...words: never[]) => E

/** Awaits a query that has to fail with a class of the driver's errors, and gives the error. */
async function failureOf<E extends ServiceError>(
  query: Promise<unknown>,
  errorClass: ErrorClass<E>,
): Promise<E> {
  const error: unknown = await query.then(
    () => assert.fail('the query did not fail'),
    reason => reason,
  )
  assert.ok(error instanceof errorClass, `${error} is no ${errorClass.name}`)
  return error
}

driverTest('a query that does not parse or that names nothing', async app => {
  const client = app.client()
  const unreadable = await failureOf(client.query(fql`1 +`), QueryCheckError)
  assert.equal(unreadable.code, 'invalid_query')
  assert.equal(unreadable.httpStatus, 400)
  assert.equal(
    unreadable.queryInfo?.summary,
    'error: Expected expression\nat *query*:1:4\n  |\n1 | 1 +\n  |    ^\n  |',
  )
  const unbound = await failureOf(client.query(fql`1 + missing`), QueryRuntimeError)
  assert.equal(unbound.code, 'unbound_variable')
  assert.match(unbound.queryInfo?.summary ?? '', /^1 \| 1 \+ missing\n {2}\| {5}\^{7}$/m)
})

driverTest('a query that fails while it runs', async app => {
  const failed = await failureOf(app.client().query(fql`${4} / 0`), QueryRuntimeError)
  assert.equal(failed.code, 'divide_by_zero')
  assert.equal(failed.message, 'Attempted integer division by zero.')
  assert.ok(failed.queryInfo?.txn_ts !== undefined && failed.queryInfo.stats !== undefined)
})

driverTest('a query that aborts carries its value', async app => {
  const aborted = await failureOf(app.client().query(fql`abort({ reason: "sold out", left: 0 })`), AbortError)
  assert.equal(aborted.httpStatus, 400)
  assert.deepEqual(aborted.abort, { reason: 'sold out', left: 0 })
})

driverTest('a secret that is none', async app => {
  const refused = await failureOf(app.client({ secret: 'wrong' }).query(fql`1`), AuthenticationError)
  assert.equal(refused.code, 'unauthorized')
  assert.equal(refused.httpStatus, 401)
})

driverTest('a request that makes no sense', async app => {
  const client = app.client()
  const tags = await failureOf(
    client.query(fql`1`, { query_tags: { 'bad name!': 'x' } }),
    InvalidRequestError,
  )
  assert.equal(tags.httpStatus, 400)
  const retries = await failureOf(client.query(fql`1`, { max_contention_retries: 1000 }), InvalidRequestError)
  assert.match(retries.message, /x-max-contention-retries/)
})

driverTest('a query whose time is up', async app => {
  // More time for the answer to arrive than the query has to run.
  const client = app.client({ query_timeout_ms: 1, client_timeout_buffer_ms: 30_000 })
  const slow = fql`Set.sequence(0, 15000).map(i => Array.sequence(0, 1000).fold(0, (a, b) => a + b)).count()`
  const late = await failureOf(client.query(slow), QueryTimeoutError)
  assert.equal(late.httpStatus, 440)
  assert.equal(late.code, 'time_out')
})

driverTest('a client that was closed', async app => {
  // One of our own: the app would close it a second time.
  const client = new Client({ endpoint: new URL(app.server.url), secret: app.secret })
  await client.query(fql`1`)
  client.close()
  await assert.rejects(client.query(fql`1`), ClientClosedError)
})

driverTest('paths of version 10 that are not there', async app => {
  const feed = app.client().feed(fql`Set.sequence(0, 1).eventSource()`)
  await assert.rejects(feed.nextPage())
})
