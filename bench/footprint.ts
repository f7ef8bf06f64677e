// What a service takes when nobody asks it anything: memory of each of its processes, empty and with documents, bytes on disk for
// each document, and what it costs to serve again after it was killed.

import { join } from 'node:path'
import { keyOfNewDatabase, query, send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { createSchema, document, literal } from './documents.ts'
import { diskBytes, median, memoryOfEach, processorMs } from './measure.ts'

export interface FootprintResult {
  /** Memory of each process of a service that has nothing, in words. */
  readonly emptyMemory: string
  /** The same with two workers. */
  readonly emptyWorkersMemory: string
  /** That of one process when the documents have been created. */
  readonly filledMemory: string
  readonly bytesPerDocument: number
  /**
   * From the start over what a killed service left to the first answer; of the processor, and in all. The medians of several
   * starts, each after another kill.
   */
  readonly restartProcessorMs: number
  readonly restartMs: number
}

/** How long the process of the slow lane has to become ready, and what is not needed any more to be given back. */
const restMs = 5000
const clients = 32
const restartCount = 5

const rest = () => new Promise(resolve => setTimeout(resolve, restMs))

/** Creates documents one by one, many at a time: transactions of one document each. */
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

/** Memory of each process of a service over an empty folder of its own, in words. */
async function memoryWithWorkers(data: string, workers: number): Promise<string> {
  const server = await start(data, ['--workers', String(workers)])
  try {
    await rest()
    return memoryOfEach(server.pid)
  } finally {
    await server.stop()
  }
}

/** Creates documents over the folder `data` and kills the service. */
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

/** Starts a service over what a killed one left, waits for its first answer and kills it, too. */
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

/** Creates documents over the empty folder `data`, kills the service and starts it again. */
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
