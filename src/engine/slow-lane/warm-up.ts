// Warms up an idle slow-lane process: evaluates short queries with typical parts of long queries. So V8 optimizes the
// service's code for these parts before the first job.

import type { Engine, QueryRequest } from '../engine-contract.ts'

type Query = Pick<QueryRequest, 'language' | 'dialect' | 'body'>

/** Number of evaluations of each query. */
const rounds = 12
/** Number of loop iterations of a query. The query is short, because a new job waits until the current query ends. */
const elements = 1500

const numbers = Array.from({ length: elements }, (_, number) => number)

/**
 * Queries for the warm-up, one for each language. Each query runs a loop that calls functions on numbers, texts and
 * objects. The queries read no stored data.
 */
const queries: readonly Query[] = [
  {
    language: '4',
    dialect: '4',
    body: JSON.stringify({
      sum: {
        map: {
          lambda: 'n',
          expr: {
            if: { lt: [{ var: 'n' }, 10] },
            then: { length: { concat: ['a', { to_string: { var: 'n' } }] } },
            else: { select: 'm', from: { object: { m: { add: [{ var: 'n' }, 1] } } } },
          },
        },
        collection: numbers,
      },
    }),
  },
  {
    language: '10',
    dialect: '10',
    body: JSON.stringify({
      query: `let add = (sum, n) => if (n < 10) "a#{n}".length + sum else sum + { m: n + 1 }.m
        Set.sequence(0, ${elements}).fold(0, add)`,
    }),
  },
]

/**
 * Evaluates the queries with the rights of the root secret, and discards the results. Stops when `isIdle` returns
 * false. Does nothing if `rootSecret` is undefined.
 */
export async function warmUp(
  engine: Pick<Engine, 'query'>,
  rootSecret: string | undefined,
  isIdle: () => boolean,
): Promise<void> {
  if (rootSecret === undefined) return
  for (let round = 0; round < rounds; round++) {
    for (const query of queries) {
      if (!isIdle()) return
      await engine.query({ ...query, authorization: `Bearer ${rootSecret}`, timeoutMs: 1000 })
      await new Promise(resolve => setImmediate(resolve))
    }
  }
}
