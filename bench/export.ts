// The case `export`: writes a million records into segments of the query log, then exports them through the public API.
// Reports the time of the export and of the download, the size of the file, and the server's memory before and at its
// peak.

import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/base/clock.ts'
import { systemTimers } from '../src/base/timers.ts'
import { version4 } from '../src/fql4/language.ts'
import { RecordFormat } from '../src/query-log/record.ts'
import { SegmentWriter } from '../src/query-log/segment-writer.ts'
import { finished, requestExport } from '../tests/query-log/log-client.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { memoryMebibytes } from './measure.ts'

export interface ExportOptions {
  readonly records: number
  /** The folder for the data directory. */
  readonly folder: string
}

/** Records between two flushes, so that the writer's buffer never overflows. */
const recordsPerFlush = 10_000

/** Writes records of 200 databases, in the form of a driver's requests. */
async function writeRecords(data: string, count: number): Promise<void> {
  const folder = join(data, 'query-log/segments')
  mkdirSync(folder, { recursive: true })
  const writer = new SegmentWriter({
    folder,
    writer: 'be',
    clock: systemClock,
    timers: systemTimers,
    segmentBytes: 64_000_000,
    segmentMs: 3_600_000,
    onLoss: records => {
      throw new Error(`${records} records lost`)
    },
  })
  const format = new RecordFormat('us-std', { '4': version4 })
  const headers = {
    'user-agent': 'faunadb-javascript/4.8.2',
    'x-driver-env':
      'driver=javascript-4.8.2; runtime=nodejs-20.11.0; env=unknown; os=linux 6.1.0; nodejs=v20',
  }
  for (let n = 0; n < count; n++) {
    const { record: line } = format.parts(
      {
        method: 'POST',
        headers: { ...headers, 'x-last-seen-txn': String(1_700_000_000_000_000 + n) },
        language: '4',
        apiVersion: '4',
        query: `{"get":{"match":{"index":"by_${n}"},"terms":${n}}}`,
        bytesIn: 40 + (n % 100),
        bytesOut: 300 + (n % 500),
        status: 200,
        costs: {
          computeOps: 1,
          byteReadOps: n % 10,
          byteWriteOps: 0,
          queryTimeMs: n % 20,
          txnRetries: 0,
          rateLimited: [],
        },
        database: { names: [`tenant-${n % 200}`, 'app'], ids: [BigInt(n % 200), 1000n] },
        tags: [],
        traceId: n.toString(16).padStart(32, '0'),
        spanId: (n * 7919).toString(16).padStart(16, '1'),
      },
      writer.now(),
    )
    writer.append(line)
    if (n % recordsPerFlush === 0) await writer.flush()
  }
  await writer.close()
}

/** Runs the case and prints it. */
export async function runExport({ records, folder }: ExportOptions): Promise<void> {
  console.log(`\nexport: ${records.toLocaleString('en')} records of the query log`)
  const data = await mkdtemp(join(folder, 'terrarium-export-'))
  await writeRecords(data, records)
  const server = await startProcess({ data, flags: ['--query-log-megabytes', '1000000'] })
  const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`
  try {
    const { own: before } = memoryMebibytes(server.pid)
    const started = performance.now()
    const { request_id: id } = await requestExport(server, server.rootSecret, { region_group: 'us-std' })
    const { state, presigned_url: url } = await finished(server, server.rootSecret, id)
    if (state !== 'Complete') throw new Error(`the export ended in state ${state}`)
    console.log(`whole region: ${seconds(started)}`)
    const downloading = performance.now()
    let bytes = 0
    for await (const chunk of (await fetch(url as string)).body ?? []) bytes += chunk.length
    console.log(`download: ${seconds(downloading)}, ${(bytes / 1e6).toFixed(1)} MB`)
    const { peak } = memoryMebibytes(server.pid)
    console.log(`memory ${before.toFixed(0)} MiB before, at most ${peak.toFixed(0)} MiB with mapped files`)
  } finally {
    await server.stop()
    await rm(data, { recursive: true, force: true })
  }
}
