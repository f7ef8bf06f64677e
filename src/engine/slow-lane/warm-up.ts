// Warms up an idle slow-lane process with short queries that have typical parts of long queries, so that V8 optimizes
// the service's code for these parts before the first job.

import type { Engine, QueryRequest } from '../engine-contract.ts'

type Query = Pick<QueryRequest, 'language' | 'dialect' | 'body'>

/** Evaluations of each query. */
const rounds = 12
/** Iterations of a query's loop. The query is short, because a new job waits until the current query ends. */
const elements = 1500

const numbers = Array.from({ length: elements }, (_, number) => number)

/** Each query runs a loop that calls functions on numbers, texts and objects, and reads no stored data. */
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
 * Uses the rights of the root secret, and discards the results. Stops when `isIdle` returns false. Does nothing without
 * `rootSecret`.
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
      await engine.query({ ...query, authorization: `Bearer ${rootSecret}`, timeoutMs: 1000 }, undefined)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
}
