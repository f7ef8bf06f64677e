// The case `hour`: an hour of steady load on a service with many documents. Measures the memory of its processes, the
// size of the data file, and the latency at the beginning and at the end. Each created document expires after a minute
// and the collection has no history, so from the sixteenth minute on, as many documents are removed as are written.

import { join } from 'node:path'
import { keyOfNewDatabase } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { reference } from './cases.ts'
import { createSchema, document, literal, loadDocuments } from './documents.ts'
import { diskBytes, type LoadResult, measure, memoryMebibytes, memoryOfEach, post } from './measure.ts'

export interface HourOptions {
  /** The data directory, which must be empty. */
  readonly data: string
  /** The number of documents that do not expire. */
  readonly documents: number
  readonly minutes: number
  readonly onSegment: (segment: HourSegment) => void
}

/** A part of the time. */
export interface HourSegment {
  /** Minutes from the beginning of the load to the end of this part. */
  readonly minutes: number
  readonly results: Readonly<Record<keyof typeof rates, LoadResult>>
  /** Memory of each process, as text. */
  readonly memory: string
  /** Pages of the data file that the service has mapped. */
  readonly mappedMebibytes: number
  /** Size of the directory without the files of the query log. */
  readonly diskMebibytes: number
}

/** Requests per second of each kind. */
const rates = { creates: 150, updates: 100, reads: 154 } as const
const segments = 12
const mebibyte = 2 ** 20
const connections = 8
/** The load repeats the list. */
const requestCount = 10_000
/** Coprime with all numbers in this file, so that neighbours in the list are not neighbours in the collection. */
const stride = 7919
const newFrom = 1_000_000_000

function queries(ids: readonly string[]): Readonly<Record<keyof typeof rates, (n: number) => unknown>> {
  const some = (n: number) => reference(ids[(n * stride) % ids.length] as string)
  const ttl = { time_add: { now: null }, offset: 1, unit: 'minute' }
  return {
    creates: n => ({
      create: { collection: 'documents' },
      params: literal({ data: literal(document(newFrom + n)), ttl }),
    }),
    updates: n => ({
      update: some(n),
      params: literal({ data: literal({ number: { to_micros: { time: 'now' } } }) }),
    }),
    reads: n => ({ get: some(n) }),
  }
}

/** Rejects when a request fails. */
export async function measureHour({ data, documents, minutes, onSegment }: HourOptions): Promise<void> {
  const server = await startProcess({ program: join(repository, 'bin/terrarium.js'), data })
  try {
    const secret = await keyOfNewDatabase(server, 'bench', 'server')
    await createSchema(server.url, secret, { history_days: 0 })
    const ids = await loadDocuments(server.url, secret, 0, documents)
    const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
    const requestsOf = (query: (n: number) => unknown) =>
      Array.from({ length: requestCount }, (_, n) => post('/', query(n), headers))
    const { creates, reads, updates } = queries(ids)
    const requests = {
      creates: requestsOf(creates),
      updates: requestsOf(updates),
      reads: requestsOf(reads),
    }
    const seconds = (minutes * 60) / segments
    const load = (kind: keyof typeof rates) =>
      measure({
        port: Number(new URL(server.url).port),
        connections,
        warmupSeconds: 0,
        seconds,
        ratePerSecond: rates[kind],
        requests: requests[kind],
      })
    for (let segment = 1; segment <= segments; segment++) {
      const [made, changed, read] = await Promise.all([load('creates'), load('updates'), load('reads')])
      onSegment({
        minutes: (minutes * segment) / segments,
        results: { creates: made, updates: changed, reads: read },
        memory: memoryOfEach(server.pid),
        mappedMebibytes: memoryMebibytes(server.pid).mapped,
        diskMebibytes: diskBytes(data) / mebibyte,
      })
    }
  } finally {
    await server.stop()
  }
}
