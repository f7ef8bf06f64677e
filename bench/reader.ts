// A client that reads a document at a fixed rate in a database of its own, whatever else the service does.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { keyOfNewDatabase, query } from '../tests/support/http.ts'
import type { ServerProcess } from '../tests/support/server-process.ts'
import type { ReaderPlan, Times } from './neighbour-reader.ts'

/** Creates the database `quiet` with a document. The reader, once begun, reads it every `everyMs` milliseconds. */
export async function readerOf(server: ServerProcess, everyMs: number): Promise<Reader> {
  const secret = await keyOfNewDatabase(server, 'quiet', 'server')
  const bodies = [await documentToRead(server, secret)]
  return new Reader({ port: Number(new URL(server.url).port), secret, bodies, everyMs })
}

export class Reader {
  readonly #worker: Worker

  constructor(plan: ReaderPlan) {
    this.#worker = new Worker(new URL('neighbour-reader.ts', import.meta.url), { workerData: plan })
  }

  begin(): void {
    this.#worker.postMessage('begin')
  }

  /** Durations of the reads since the beginning. */
  async stop(): Promise<Times> {
    this.#worker.postMessage('stop')
    const [times] = await once(this.#worker, 'message')
    return times as Times
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

async function documentToRead(server: ServerProcess, secret: string): Promise<string> {
  await query(server, secret, { create_collection: { object: { name: 'things' } } })
  const params = { object: { data: { object: { name: 'a thing', n: 1 } } } }
  const created = await query(server, secret, {
    select: 'ref',
    from: { create: { collection: 'things' }, params },
  })
  return JSON.stringify({ get: created })
}
