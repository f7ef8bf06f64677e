// The baseline: bare servers of `node:http` and `node:http2` (clear text) that read the request's body and respond to
// `POST /N` with N bytes of JSON. Prints both ports.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'

const bodies = new Map<string, Buffer>()

function bodyFor(url: string): Buffer {
  let body = bodies.get(url)
  if (!body) {
    // `{"resource":""}` has 15 bytes.
    body = Buffer.from(JSON.stringify({ resource: 'x'.repeat(Math.max(0, Number(url.slice(1)) - 15)) }))
    bodies.set(url, body)
  }
  return body
}

const headOf = (body: Buffer) => ({
  'content-type': 'application/json;charset=utf-8',
  'content-length': body.length,
})

const http1 = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    const body = bodyFor(request.url ?? '/0')
    response.writeHead(200, headOf(body))
    response.end(body)
  })
})

const http2 = createHttp2Server()
http2.on('stream', (stream: ServerHttp2Stream, headers) => {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    const body = bodyFor(headers[':path'] ?? '/0')
    stream.respond({ ':status': 200, ...headOf(body) })
    stream.end(body)
  })
})

const portOf = async (server: typeof http1 | typeof http2) => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
console.log(`${await portOf(http1)} ${await portOf(http2)}`)
process.on('SIGTERM', () => process.exit(0))
