// The case `recording`: the cost of recording. Runs point reads against one process that alternately records and does not
// record (recording-server.ts). Reports the CPU time of all threads per request, and the bytes of a record on disk.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keyOfNewDatabase } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { cases } from './cases.ts'
import { createSchema, loadDocuments } from './documents.ts'
import { measure, median, post } from './measure.ts'
import type { Phase } from './recording-server.ts'

export interface RecordingOptions {
  readonly connections: number
  readonly documents: number
}

const program = fileURLToPath(new URL('recording-server.ts', import.meta.url))
const seconds = 30
/** Measured seconds of a phase: `phaseMs` without `settleMs` in recording-server.ts. */
const measuredSeconds = 1.3

/** Runs the comparison and prints it. */
export async function runRecording({ connections, documents }: RecordingOptions): Promise<void> {
  console.log('\nrecording: CPU time of point reads of one process, with and without a record of each')
  let stderr = ''
  const onStderr = (text: string) => {
    stderr = text
  }
  const server = await startProcess({ program, onStderr })
  try {
    const secret = await keyOfNewDatabase(server, 'bench', 'server')
    await createSchema(server.url, secret)
    const ids = await loadDocuments(server.url, secret, 0, documents)
    const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
    const queries = cases.find(({ name }) => name === 'get')?.requests({ ids }) ?? []
    const requests = queries.map(({ query }) => post('/', query, headers))
    const load = { port: Number(new URL(server.url).port), connections, requests }
    await measure({ ...load, seconds: 8, warmupSeconds: 0 })
    const [logBefore, bytesBefore] = [stderr.length, logBytes(server)]
    await measure({ ...load, seconds, warmupSeconds: 0 })
    const phases = [...stderr.slice(logBefore).matchAll(/^phase (.*)$/gm)].map(
      ([, json = '']) => JSON.parse(json) as Phase,
    )
    report(phases, logBytes(server) - bytesBefore)
  } finally {
    await server.stop()
  }
}

function report(phases: readonly Phase[], bytes: number): void {
  for (const { cpuMicros, records, requests } of phases)
    console.log(`${records ? 'recorded' : 'not     '} ${cpuMicros.toFixed(2)} µs, ${requests} requests`)
  // Each recorded phase is compared with the phases before and after, because the speed of the machine changes slowly.
  const costs = phases.flatMap(({ cpuMicros, records }, at) => {
    const [before, after] = [phases[at - 1], phases[at + 1]]
    return records && before && after ? cpuMicros - (before.cpuMicros + after.cpuMicros) / 2 : []
  })
  console.log(`recording costs ${median(costs).toFixed(2)} µs of CPU per request, in all threads (median)`)
  // The phases leave out a part of the time, so the bytes are compared with the rate of the phases.
  const rate = median(phases.map(({ requests }) => requests)) / measuredSeconds
  console.log(`about ${(bytes / ((rate * seconds) / 2)).toFixed(0)} bytes for each record`)
}

/** Bytes of all segments. */
function logBytes({ data }: ServerProcess): number {
  const folder = join(data, 'query-log', 'records')
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
