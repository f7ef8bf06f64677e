// What a service takes when nobody asks it anything: memory of each of its processes, empty and with documents, bytes on disk for
// each document, and what it costs to serve again after it was killed.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { keyOfNewDatabase, query, send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type RunningServer, startServer } from '../tests/support/server.ts'
import { createSchema, document, literal } from './documents.ts'
import { memoryMebibytes, processesOf, processorMs } from './measure.ts'

export interface FootprintResult {
  /** Mebibytes of the processes of a service that has nothing: the one that serves, then that of the slow lane. */
  readonly emptyMebibytes: readonly number[]
  /** The same when the documents have been created. */
  readonly filledMebibytes: readonly number[]
  readonly bytesPerDocument: number
  /** From the start over what a killed service left to the first answer; of the processor, and in all. */
  readonly restartProcessorMs: number
  readonly restartMs: number
}

/** How long the process of the slow lane has to become ready, and what is not needed any more to be given back. */
const restMs = 5000
const clients = 32
const blockBytes = 512

/** What the files of a folder take on the disk, without those of the query log. */
function diskBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile() && !entry.parentPath.includes('query-log'))
  return (
    files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).blocks, 0) * blockBytes
  )
}

const rest = () => new Promise(resolve => setTimeout(resolve, restMs))

function mebibytesOf(server: RunningServer): readonly number[] {
  return processesOf(server.pid).map(pid => memoryMebibytes(pid).own)
}

/** Creates documents one by one, many at a time: transactions of one document each. */
async function createDocuments(server: RunningServer, secret: string, count: number): Promise<void> {
  let next = 0
  const client = async () => {
    while (next < count) {
      const params = literal({ data: literal(document(next++)) })
      await query(server, secret, { create: { collection: 'documents' }, params })
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** Creates documents over the empty folder `data`, kills the service and starts it again. */
export async function measureFootprint(data: string, documents: number): Promise<FootprintResult> {
  const program = join(repository, 'bin/terrarium.js')
  const start = () => startServer({ program, data })
  const server = await start()
  let bytesPerDocument: number
  let emptyMebibytes: readonly number[]
  let filledMebibytes: readonly number[]
  try {
    const secret = await keyOfNewDatabase(server, 'bench', 'server')
    await createSchema(server.url, secret)
    await rest()
    emptyMebibytes = mebibytesOf(server)
    const before = diskBytes(data)
    await createDocuments(server, secret, documents)
    bytesPerDocument = (diskBytes(data) - before) / documents
    await rest()
    filledMebibytes = mebibytesOf(server)
    await server.kill()
  } finally {
    await server.stop()
  }
  const fromMs = performance.now()
  const again = await start()
  try {
    await send(again, { secret: again.rootSecret, query: { add: [1, 2] } })
    const restartMs = performance.now() - fromMs
    const restartProcessorMs = processorMs(again.pid)
    return { emptyMebibytes, filledMebibytes, bytesPerDocument, restartMs, restartProcessorMs }
  } finally {
    await again.stop()
  }
}
