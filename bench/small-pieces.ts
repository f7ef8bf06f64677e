// The case `pieces`: the effect of bodies that arrive in pieces of a byte on another database's reads and on the memory
// of the service. The clients need no credential and cause no error, because each connection stays open with an
// incomplete request.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { memoryMebibytes } from './measure.ts'
import type { Times } from './neighbour-reader.ts'
import { readerOf } from './reader.ts'

export interface PiecesResult {
  readonly name: string
  readonly times: Times
  /** Growth of the service's memory at its maximum, in mebibytes. */
  readonly grownBy: number
}

/** Bounds of another database's reads and of the memory. */
export const piecesBounds = { p99Ms: 50, mebibytes: 64 }

const connections = 100
const piecesOfEach = 65_000
const measuredMs = 5000
const sampleMs = 50

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const head = 'POST /query/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunks = '1\r\na\r\n'.repeat(piecesOfEach)
const ordinary = 'POST /query/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{"query":"1+1"}'

/** Requests in small pieces, from the first byte on, or after a request that was responded to. */
const floods = [
  { name: 'new connections', first: '', then: head + chunks },
  { name: 'connections with an earlier request', first: ordinary, then: head + chunks },
]

/** Measures reads beside each of the floods; returns the durations without a flood. */
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
    // First, ordinary requests are sent on the same number of connections, so that the memory of connections does not
    // count as memory of the pieces.
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

/** Sends `first` on each connection; resolves after the responses. */
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
