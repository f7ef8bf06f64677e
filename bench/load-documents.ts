// Writes many documents of 300 bytes with two indexes through the public API, then measures reads. Reports documents
// per second, bytes on disk per document and the peak memory of the server.
//
//     node bench/load-documents.ts [--documents 1000000] [--folder DIR] [--seconds 5]

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { keyOfNewDatabase } from '../tests/support/http.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { cases } from './cases.ts'
import { createSchema, loadDocuments } from './documents.ts'
import { diskBytes, measure, memoryMebibytes, post } from './measure.ts'

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '1000000' },
    folder: { type: 'string', default: tmpdir() },
    seconds: { type: 'string', default: '5' },
  },
})

const count = Number(options.documents)
const data = await mkdtemp(join(options.folder, 'terrarium-load-'))
const server = await startProcess({ data })
try {
  const secret = await keyOfNewDatabase(server, 'load', 'server')
  await createSchema(server.url, secret)
  const before = diskBytes(data)
  const from = performance.now()
  let shown = 0
  let ownPeak = 0
  const ids = await loadDocuments(server.url, secret, 0, count, loaded => {
    if (loaded - shown < count / 20) return
    shown = loaded
    const { mapped, own } = memoryMebibytes(server.pid)
    ownPeak = Math.max(ownPeak, own)
    console.log(
      `${loaded} documents, memory ${own.toFixed(0)} MiB, and ${mapped.toFixed(0)} MiB of the data file mapped`,
    )
  })
  const seconds = (performance.now() - from) / 1000
  const bytes = diskBytes(data) - before
  console.log(`${Math.round(count / seconds)} documents/s (${seconds.toFixed(1)} s)`)
  console.log(`${Math.round(bytes / count)} bytes on disk per document`)

  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  for (const benchCase of cases.filter(({ name }) => name === 'get' || name === 'page')) {
    const result = await measure({
      port: Number(new URL(server.url).port),
      connections: 32,
      warmupSeconds: 1,
      seconds: Number(options.seconds),
      requests: benchCase.requests({ ids }).map(({ query }) => post('/', query, headers)),
    })
    const p99 = (result.p99Micros / 1000).toFixed(2)
    console.log(`${benchCase.name}: ${Math.round(result.requestsPerSecond)} requests/s, p99 ${p99} ms`)
  }
  console.log(`peak memory ${Math.max(ownPeak, memoryMebibytes(server.pid).own).toFixed(0)} MiB`)
} finally {
  await server.stop()
  await rm(data, { recursive: true, force: true })
}
