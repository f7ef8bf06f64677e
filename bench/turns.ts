// Compares two ways to do the same work on the same documents, measured in turns, because the speed of the machine
// varies.

import type { ServerProcess } from '../tests/support/server-process.ts'
import { type LoadPlan, type LoadResult, measure, medianOf, post, processesOf } from './measure.ts'
import { line } from './report.ts'

/** One way; the load repeats the list of bodies. */
export interface Work {
  readonly title: string
  readonly path: '/' | '/query/1' | '/feed/1' | '/graphql'
  readonly bodies: readonly unknown[]
}

/** The same work in two ways. */
export interface Comparison {
  readonly name: string
  readonly baseline: Work
  readonly compared: Work
  /** Set if the usual number would only measure the wait in a queue. */
  readonly connections?: number
}

/** Load of each measurement. */
export type TurnPlan = Pick<LoadPlan, 'connections' | 'seconds' | 'warmupSeconds'>

/** Measurements of each way. */
const turns = 5

const headersOf: Readonly<Record<Work['path'], Readonly<Record<string, string>>>> = {
  '/': { 'x-faunadb-api-version': '4' },
  '/query/1': { 'x-format': 'tagged' },
  '/feed/1': { 'x-format': 'tagged' },
  '/graphql': { 'content-type': 'application/json' },
}

/** Returns the median of each. */
async function inTurns(
  { baseline, compared, connections }: Comparison,
  server: ServerProcess,
  secret: string,
  plan: TurnPlan,
): Promise<readonly [LoadResult, LoadResult]> {
  const port = Number(new URL(server.url).port)
  const prepared = ({ bodies, path }: Work) => {
    const headers = { authorization: `Bearer ${secret}`, ...headersOf[path] }
    return { requests: bodies.map(body => post(path, body, headers)), results: [] as LoadResult[] }
  }
  const works = [prepared(baseline), prepared(compared)] as const
  for (let turn = 0; turn < turns; turn++) {
    for (const { requests, results } of turn % 2 === 0 ? works : works.toReversed()) {
      // Slow-lane processes start and exit at any time.
      const pids = processesOf(server.pid)
      results.push(await measure({ port, requests, ...plan, ...(connections && { connections }), pids }))
    }
  }
  return [medianOf(works[0].results), medianOf(works[1].results)]
}

/** Prints the results and their ratio. */
export async function compare(
  comparison: Comparison,
  server: ServerProcess,
  secret: string,
  plan: TurnPlan,
): Promise<void> {
  const [before, after] = await inTurns(comparison, server, secret, plan)
  const { baseline, compared, name } = comparison
  console.log(line(`${name}, ${baseline.title}`, before))
  const ratio = (after.requestsPerSecond / before.requestsPerSecond).toFixed(2)
  console.log(`${line(`${name}, ${compared.title}`, after)}   ${ratio} of ${baseline.title}`)
}
