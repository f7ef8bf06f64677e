// The case `recording`: the cost of recording. Runs the same point reads against a server that records and a server
// that does not record. The two take turns, so that other load on the machine affects both. Reports the median of the
// ratios.

import { keyOfNewDatabase } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { cases } from './cases.ts'
import { createSchema, loadDocuments } from './documents.ts'
import { measure, median, post } from './measure.ts'

export interface RecordingOptions {
  readonly connections: number
  readonly seconds: number
  readonly documents: number
}

/** Pairs of measurements. */
const rounds = 7

interface Subject {
  readonly server: ServerProcess
  readonly requests: readonly string[]
}

async function start(flags: readonly string[], documents: number): Promise<Subject> {
  const server = await startProcess({ flags })
  const secret = await keyOfNewDatabase(server, 'bench', 'server')
  await createSchema(server.url, secret)
  const ids = await loadDocuments(server.url, secret, 0, documents)
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  const requests = cases.find(({ name }) => name === 'get')?.requests({ ids }) ?? []
  return { server, requests: requests.map(({ query }) => post('/', query, headers)) }
}

/** Prints the comparison. */
export async function runRecording(options: RecordingOptions): Promise<void> {
  console.log('\nrecording: point reads with and without the query log')
  const [recording, silent] = [
    await start([], options.documents),
    await start(['--query-log=false'], options.documents),
  ]
  const throughput = async ({ server, requests }: Subject) => {
    const port = Number(new URL(server.url).port)
    const { connections, seconds } = options
    return (await measure({ port, connections, seconds, warmupSeconds: 1, requests })).requestsPerSecond
  }
  try {
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      // The order alternates, so that neither server always runs on the cooler machine.
      const first = round % 2 === 0
      const one = await throughput(first ? recording : silent)
      const other = await throughput(first ? silent : recording)
      const [withLog, without] = first ? [one, other] : [other, one]
      ratios.push(withLog / without)
      console.log(
        `${Math.round(withLog)} req/s recorded, ${Math.round(without)} not: ${(withLog / without).toFixed(3)}`,
      )
    }
    console.log(`recording costs ${((1 - median(ratios)) * 100).toFixed(1)} % of throughput (median)`)
  } finally {
    await recording.server.stop()
    await silent.server.stop()
  }
}
