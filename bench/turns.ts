// Compares two ways to do the same work on the same documents, measured in turns, because the speed of the machine
// varies.

import type { BenchServer } from './bench-server.ts'
import { type LoadPlan, type LoadResult, measure, medianOf, post } from './measure.ts'
import { cpuMicros, line } from './report.ts'

/** One way to do the work; the load repeats the list of bodies. */
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

/** The load of each measurement. */
export interface TurnPlan extends Pick<LoadPlan, 'connections' | 'seconds' | 'warmupSeconds'> {
  /** The number of processes of the server that the turns use, one after the other. */
  readonly processes: number
}

/** The number of measurements of each kind of work. */
const turns = 5

const headersOf: Readonly<Record<Work['path'], Readonly<Record<string, string>>>> = {
  '/': { 'x-faunadb-api-version': '4' },
  '/query/1': { 'x-format': 'tagged' },
  '/feed/1': { 'x-format': 'tagged' },
  '/graphql': { 'content-type': 'application/json' },
}

/** Returns the medians of both ways. */
async function inTurns(
  { baseline, compared, connections }: Comparison,
  server: BenchServer,
  secret: string,
  { processes, ...plan }: TurnPlan,
): Promise<readonly [LoadResult, LoadResult]> {
  const prepared = ({ bodies, path }: Work) => {
    const headers = { authorization: `Bearer ${secret}`, ...headersOf[path] }
    return { requests: bodies.map(body => post(path, body, headers)), results: [] as LoadResult[] }
  }
  const works = [prepared(baseline), prepared(compared)] as const
  for (let turn = 0; turn < turns; turn++) {
    if (turn > 0 && turn < processes) await server.restart()
    const subject = { port: server.port, pids: [server.process.pid] }
    for (const { requests, results } of turn % 2 === 0 ? works : works.toReversed()) {
      results.push(await measure({ ...subject, requests, ...plan, ...(connections && { connections }) }))
    }
  }
  return [medianOf(works[0].results), medianOf(works[1].results)]
}

/** Prints the results and their ratio. */
export async function compare(
  comparison: Comparison,
  server: BenchServer,
  secret: string,
  plan: TurnPlan,
): Promise<void> {
  const [before, after] = await inTurns(comparison, server, secret, plan)
  const { baseline, compared, name } = comparison
  console.log(line(`${name}, ${baseline.title}`, before))
  const ratio = (after.requestsPerSecond / before.requestsPerSecond).toFixed(2)
  const cpuRatio = (cpuMicros(after) / cpuMicros(before)).toFixed(2)
  const share = `${ratio} of ${baseline.title} (CPU ${cpuRatio})`
  console.log(`${line(`${name}, ${compared.title}`, after)}   ${share}`)
}
