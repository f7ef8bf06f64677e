// The floor: a bare `node:http` server that reads the request's body and answers `POST /N` with N bytes of JSON.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const bodies = new Map<string, Buffer>()

function bodyFor(url: string): Buffer {
  let body = bodies.get(url)
  if (!body) {
    body = Buffer.from(JSON.stringify({ resource: 'x'.repeat(Math.max(0, Number(url.slice(1)) - 15)) }))
    bodies.set(url, body)
  }
  return body
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    const body = bodyFor(request.url ?? '/0')
    response.writeHead(200, {
      'content-type': 'application/json;charset=utf-8',
      'content-length': body.length,
    })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.on('SIGTERM', () => process.exit(0))
