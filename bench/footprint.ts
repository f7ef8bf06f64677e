// The case `footprint`: the resources of an idle service. Measures the memory of each process, empty and with
// documents, the bytes on disk per document, and the cost of a restart after a kill.

import { join } from 'node:path'
import { keyOfNewDatabase, query, send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { createSchema, document, literal } from './documents.ts'
import { diskBytes, median, memoryOfEach, processorMs } from './measure.ts'

export interface FootprintResult {
  /** Memory of each process of an empty service, as text. */
  readonly emptyMemory: string
  /** Memory of a service with two workers. */
  readonly emptyWorkersMemory: string
  /** Memory of each process of a service with one worker, after the documents have been created. */
  readonly filledMemory: string
  readonly bytesPerDocument: number
  /**
   * CPU time and elapsed time from the start, on the directory of a killed service, to the first response. Medians of
   * several starts, each after another kill.
   */
  readonly restartProcessorMs: number
  readonly restartMs: number
}

/** Lets the slow-lane process become ready, and unused memory be freed. */
const restMs = 5000
const clients = 32
const restartCount = 5

const rest = () => new Promise(resolve => setTimeout(resolve, restMs))

/** Creates one document per transaction, many at a time. */
async function createDocuments(server: ServerProcess, secret: string, count: number): Promise<void> {
  let next = 0
  const client = async () => {
    while (next < count) {
      const params = literal({ data: literal(document(next++)) })
      await query(server, secret, { create: { collection: 'documents' }, params })
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

const start = (data: string, flags: readonly string[] = []) =>
  startProcess({ program: join(repository, 'bin/terrarium.js'), data, flags })

/** Returns the memory of each process of a service on an empty directory, as text. */
async function memoryWithWorkers(data: string, workers: number): Promise<string> {
  const server = await start(data, ['--workers', String(workers)])
  try {
    await rest()
    return memoryOfEach(server.pid)
  } finally {
    await server.stop()
  }
}

/** Creates documents in the directory `data` and kills the service. */
async function fill(data: string, documents: number) {
  const server = await start(data)
  try {
    const secret = await keyOfNewDatabase(server, 'bench', 'server')
    await createSchema(server.url, secret)
    await rest()
    const emptyMemory = memoryOfEach(server.pid)
    const before = diskBytes(data)
    await createDocuments(server, secret, documents)
    const bytesPerDocument = (diskBytes(data) - before) / documents
    await rest()
    const filledMemory = memoryOfEach(server.pid)
    await server.kill()
    return { emptyMemory, filledMemory, bytesPerDocument }
  } finally {
    await server.stop()
  }
}

/** Restarts a service on the directory of a killed service. Waits for the first response and kills the service, too. */
async function restart(data: string): Promise<{ readonly ms: number; readonly ofProcessorMs: number }> {
  const fromMs = performance.now()
  const server = await start(data)
  try {
    await send(server, { secret: server.rootSecret, query: { add: [1, 2] } })
    const ms = performance.now() - fromMs
    const ofProcessorMs = processorMs(server.pid)
    await server.kill()
    return { ms, ofProcessorMs }
  } finally {
    await server.stop()
  }
}

/** Creates documents in the empty directory `data`, kills the service and starts it again. */
export async function measureFootprint(data: string, documents: number): Promise<FootprintResult> {
  const emptyWorkersMemory = await memoryWithWorkers(join(data, 'workers'), 2)
  const folder = join(data, 'documents')
  const filled = await fill(folder, documents)
  const restarts: Awaited<ReturnType<typeof restart>>[] = []
  while (restarts.length < restartCount) restarts.push(await restart(folder))
  return {
    ...filled,
    emptyWorkersMemory,
    restartMs: median(restarts.map(({ ms }) => ms)),
    restartProcessorMs: median(restarts.map(({ ofProcessorMs }) => ofProcessorMs)),
  }
}
