// What bodies that arrive in pieces of a byte do to another database's reads and to the memory of the service. The client
// needs no credential for it, and nothing of it is an error: each connection stays open with its request unfinished.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { memoryMebibytes } from './measure.ts'
import type { Times } from './neighbour-reader.ts'
import { readerOf } from './reader.ts'

export interface PiecesResult {
  readonly name: string
  readonly times: Times
  /** Mebibytes by which the memory of the service was larger at its most than before. */
  readonly grownBy: number
}

/** Another database's reads and the memory have to stay within these. */
export const piecesBounds = { p99Ms: 50, mebibytes: 64 }

const connections = 100
const piecesOfEach = 65_000
const measuredMs = 5000
const sampleMs = 50

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const head = 'POST /query/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunks = '1\r\na\r\n'.repeat(piecesOfEach)
const ordinary = 'POST /query/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{"query":"1+1"}'

/** What the connections send: from their first byte on, and behind a request that was responded to. */
const floods = [
  { name: 'new connections', first: '', then: head + chunks },
  { name: 'connections with an earlier request', first: ordinary, then: head + chunks },
]

/** Measures reads beside each of the floods; returns what they take beside nothing. */
export async function measureSmallPieces(
  data: string,
  everyMs: number,
  onResult: (result: PiecesResult) => void,
): Promise<Times> {
  const server = await startProcess({ data })
  try {
    const reader = await readerOf(server, everyMs)
    const measured = async (work: () => Promise<void>): Promise<Times> => {
      reader.begin()
      await work()
      await wait(measuredMs)
      return reader.stop()
    }
    // Of ordinary requests, on as many connections: what the service takes for these is not the pieces' doing.
    await measured(() => warmUp(server))
    const alone = await measured(async () => {})
    for (const { name, first, then } of floods) {
      const sockets = await open(server, first)
      const before = memoryMebibytes(server.pid).own
      let most = before
      const sampling = setInterval(() => {
        most = Math.max(most, memoryMebibytes(server.pid).own)
      }, sampleMs)
      const times = await measured(async () => {
        for (const socket of sockets) socket.write(then)
      })
      clearInterval(sampling)
      onResult({ name, times, grownBy: most - before })
      for (const socket of sockets) socket.destroy()
    }
    await reader.close()
    return alone
  } finally {
    await server.stop()
  }
}

/** Opens the connections, and sends what comes first on each; resolves when that has been responded to. */
async function open(server: ServerProcess, first: string): Promise<readonly Socket[]> {
  const port = Number(new URL(server.url).port)
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  if (first !== '') await Promise.all(sockets.map(socket => ask(socket, first)))
  return sockets
}

async function ask(socket: Socket, request: string): Promise<void> {
  socket.write(request)
  await once(socket, 'data')
}

async function warmUp(server: ServerProcess): Promise<void> {
  const sockets = await open(server, ordinary)
  const endMs = performance.now() + measuredMs
  await Promise.all(
    sockets.map(async socket => {
      while (performance.now() < endMs) await ask(socket, ordinary)
    }),
  )
  for (const socket of sockets) socket.destroy()
}
