// TLS from the command line to the driver: one port for HTTP/2 (by ALPN) and HTTP/1.1, with one process and with
// several.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import http2 from 'node:http2'
import https from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setDefaultCACertificates } from 'node:tls'
import faunadb from 'faunadb'
import { cert, key } from '../http/certificate.ts'
import { folderOfFile } from '../support/folder.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { pingTimeoutMs } from './app.ts'

// Trusts the test's certificate, as if an authority had signed it.
setDefaultCACertificates([cert])

const q = faunadb.query
const folder = folderOfFile()
const certFile = join(folder, 'cert.pem')
const keyFile = join(folder, 'key.pem')
await writeFile(certFile, cert)
await writeFile(keyFile, key)

/** The status and text of a response over HTTP/1.1. */
async function overHttp1(server: ServerProcess, path: string): Promise<[number | undefined, string]> {
  const request = https.get(server.url + path, { agent: new https.Agent() })
  const [response] = await once(request, 'response')
  assert.equal(response.httpVersion, '1.1')
  return [response.statusCode, await text(response)]
}

for (const workers of ['1', '2']) {
  test(`the driver uses HTTP/2 over TLS with ${workers} worker(s), other clients HTTP/1.1`, async () => {
    const flags = ['--tls-cert', certFile, '--tls-key', keyFile, '--workers', workers, ...withoutSlowLane]
    const server = await startProcess({ flags })
    const { hostname, port, protocol } = new URL(server.url)
    assert.equal(protocol, 'https:')
    const client = new faunadb.Client({
      domain: hostname,
      port: Number(port),
      scheme: 'https',
      secret: server.rootSecret,
    })
    try {
      assert.equal(await client.query(q.Add(1, 2)), 3)
      for (const scope of ['node', 'read', 'write', 'all']) {
        assert.equal(await client.ping(scope, pingTimeoutMs), `Scope ${scope} is OK`)
        assert.deepEqual(await overHttp1(server, `/ping?scope=${scope}&timeout=${pingTimeoutMs}`), [
          200,
          `{"resource":"Scope ${scope} is OK"}`,
        ])
      }
      const session = http2.connect(server.url)
      await once(session, 'connect')
      assert.equal(session.alpnProtocol, 'h2')
      session.close()
    } finally {
      client.close()
      await server.stop()
    }
  })
}
