// Undocumented behaviour of Node, pg, re2js, lmdb and prom-client that the service relies on. A release that changes it
// fails here first. docs/internals/inside-dependencies.md lists the uses and the reasons, and names the tests.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import http2, { type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import net, { type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import tls from 'node:tls'
import { open } from 'lmdb'
import { Client } from 'pg'
import { type Metric, Registry } from 'prom-client'
import { RE2JS } from 're2js'
import { cert, key } from '../http/certificate.ts'
import { connectRaw } from '../http/raw-connection.ts'
import { endHeaders, endStream, frame, goawayCode, headerBlock, opening, uint32 } from '../http/raw-http2.ts'
import { folderOfFile } from '../support/folder.ts'
import { repository } from '../support/program.ts'

const folder = folderOfFile()

/** A server that only accepts. Returns its port and the next connection. */
async function acceptor(t: TestContext) {
  const sockets: Socket[] = []
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket.on('error', () => undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    connection: async () => sockets.shift() ?? ((await once(server, 'connection'))[0] as Socket),
  }
}

/** Sends data as a client; returns the connection on the server's side. */
async function accepted(t: TestContext, sent: string | Buffer) {
  const { port, connection } = await acceptor(t)
  const accepting = connection()
  const client = await connectRaw(port, sent)
  t.after(() => client.socket.destroy())
  return { client, socket: await accepting }
}

const shortRequest = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

test('an HTTP server without a port serves connections that are emitted to it', async t => {
  const { client, socket } = await accepted(t, shortRequest)
  const server = http.createServer((_request, response) => response.end('served'))
  server.emit('connection', socket)
  await client.until('served')
})

test('a TLS server without a port accepts connections that are emitted to it, with bytes that were unshifted to the socket', async t => {
  const secure = tls.createServer({ cert, key })
  const server = net.createServer(async socket => {
    await once(socket, 'readable')
    socket.unshift(socket.read())
    secure.emit('connection', socket)
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = tls.connect({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' })
  await once(client, 'secureConnect')
  client.destroy()
})

test('an HTTP server enforces its time limits from its event "listening" on', async t => {
  const { socket } = await accepted(t, 'GET / HTTP/1.1\r\n')
  const server = http.createServer({ headersTimeout: 1, requestTimeout: 1, connectionsCheckingInterval: 1 })
  t.after(() => server.close())
  server.emit('listening')
  server.emit('connection', socket)
  const [error] = await once(server, 'clientError')
  assert.equal(error.code, 'ERR_HTTP_REQUEST_TIMEOUT')
})

test('errors of requests on a closed connection are created while the listeners of its event "close" run, and respect stackTraceLimit', async t => {
  const { client, socket } = await accepted(t, shortRequest)
  const server = http.createServer()
  const { stackTraceLimit } = Error
  t.after(() => {
    Error.stackTraceLimit = stackTraceLimit
  })
  // Runs before the listeners of the server itself.
  socket.once('close', () => {
    Error.stackTraceLimit = 0
    queueMicrotask(() => {
      Error.stackTraceLimit = stackTraceLimit
    })
  })
  const asked = once(server, 'request')
  server.emit('connection', socket)
  const [request] = (await asked) as [IncomingMessage, ServerResponse]
  const failed = once(request, 'error')
  client.socket.resetAndDestroy()
  const [error] = await failed
  assert.equal(error.message, 'aborted')
  assert.doesNotMatch(error.stack, /\n\s+at /)
})

test('the body of an HTTP/1.1 request in one packet is available in the tick after its head', async t => {
  const { socket } = await accepted(t, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody')
  const server = http.createServer()
  const arrived = new Promise(resolve => {
    server.once('request', request => process.nextTick(() => resolve(request.readableLength)))
  })
  server.emit('connection', socket)
  assert.equal(await arrived, 4)
})

test('the HTTP/1.1 parser stops reading when another listener takes the data, and sets socket._paused while it accepts no requests', async t => {
  const { socket, client } = await accepted(t, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\nbo')
  const server = http.createServer()
  let body = ''
  const asked = once(server, 'request')
  server.emit('connection', socket)
  const [request, response] = (await asked) as [IncomingMessage, ServerResponse]
  request.on('data', piece => {
    body += piece
  })
  client.socket.write('dy')
  while (body !== 'body') await setImmediate()
  const [parse] = socket.listeners('data') as [(bytes: Buffer) => void]
  let taken = ''
  socket.on('data', bytes => {
    taken += bytes
  })
  socket.removeListener('data', parse)
  client.socket.write('body')
  while (taken !== 'body') await setImmediate()
  assert.equal(body, 'body')
  const paused = () => (socket as { readonly _paused?: boolean })._paused
  assert.equal(paused(), false)
  parse(Buffer.from('body'))
  assert.equal(body, 'bodybody')
  client.socket.pause()
  response.end('x'.repeat(50_000_000))
  parse(Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'))
  assert.equal(paused(), true)
})

const head = headerBlock({ ':method': 'POST', ':scheme': 'http', ':path': '/', ':authority': 'x' })

/** A session on a connection whose first bytes were read and unshifted, with the bytes that follow. */
function session(t: TestContext, socket: Duplex, options: http2.ServerOptions = {}): ServerHttp2Session {
  const session = http2.performServerHandshake(socket, options)
  t.after(() => session.destroy())
  session.on('error', () => undefined)
  return session
}

test('an HTTP/2 session reads a hand-made HEADERS frame that was unshifted to the socket before the session began', async t => {
  const { socket } = await accepted(t, opening())
  await once(socket, 'readable')
  const seen = socket.read() as Buffer
  // The same frame as in src/server/http/preface.ts: POST, scheme http, path /, authority "-".
  const made = Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x83, 0x86, 0x84, 0x01, 0x01, 0x2d])
  socket.unshift(Buffer.concat([seen, made]))
  const [stream, headers] = (await once(session(t, socket), 'stream')) as [
    ServerHttp2Stream,
    http2.IncomingHttpHeaders,
  ]
  assert.deepEqual([stream.id, headers[':method'], stream.endAfterHeaders], [1, 'POST', true])
})

test('an HTTP/2 session can begin on a stream that combines two streams', async t => {
  const piece = Buffer.concat([opening(), frame('headers', endHeaders | endStream, 1, head)])
  const { socket } = await accepted(t, piece)
  // The types do not say that `Duplex.from` accepts streams of Node, too.
  const ends = { readable: socket, writable: socket } as unknown as Iterable<never>
  const [stream] = (await once(session(t, Duplex.from(ends)), 'stream')) as [ServerHttp2Stream]
  assert.equal(stream.id, 1)
})

test('body and end of an HTTP/2 request in one packet are available after the turn; status and headers may be numbers', async t => {
  const data = frame('data', endStream, 1, Buffer.from('body'))
  const piece = Buffer.concat([opening(), frame('headers', endHeaders, 1, head), data])
  const { client, socket } = await accepted(t, piece)
  const [stream] = (await once(session(t, socket), 'stream')) as [ServerHttp2Stream]
  stream.read(0)
  await setImmediate()
  assert.deepEqual([stream.readableLength, stream.state.remoteClose], [4, 1])
  // The types do not allow numbers.
  stream.respond([':status', 200, 'content-length', 6] as readonly unknown[] as readonly string[])
  stream.end('served')
  await client.until('served')
})

test('an HTTP/2 session ends when more streams are reset than streamResetBurst allows', async t => {
  const { client, socket } = await accepted(t, opening())
  session(t, socket, { streamResetBurst: 5, streamResetRate: 1 })
  const resets = Array.from({ length: 20 }, (_, at) => [
    frame('headers', endHeaders, 2 * at + 1, head),
    frame('reset', 0, 2 * at + 1, uint32(http2.constants.NGHTTP2_CANCEL)),
  ])
  client.socket.write(Buffer.concat(resets.flat()))
  const received = Buffer.from(await client.ended(), 'latin1')
  assert.equal(goawayCode(received), http2.constants.NGHTTP2_INTERNAL_ERROR)
})

test('with excludeNetwork, a report of process.report does not resolve host names; it contains the limit of open files', t => {
  // The types lack this option.
  assert.ok('excludeNetwork' in process.report)
  const { excludeNetwork } = process.report
  t.after(() => Object.assign(process.report, { excludeNetwork }))
  Object.assign(process.report, { excludeNetwork: true })
  const report = process.report.getReport() as Record<string, Record<string, object>>
  assert.deepEqual(report.header?.networkInterfaces ?? [], [])
  if (process.platform !== 'win32') assert.ok('open_files' in (report.userLimits as object))
})

const runNode = (flags: readonly string[], program: string, env = {}) =>
  spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', program], {
    cwd: repository,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })

test('V8 knows the flag that keeps new objects in the young generation', () => {
  const { status, stderr } = runNode(['--no-allocation-site-pretenuring'], '')
  assert.equal(status, 0, stderr)
})

test('a process is a worker of node:cluster if NODE_UNIQUE_ID is set', () => {
  const program = `import cluster from 'node:cluster'; console.log(cluster.isWorker)`
  assert.equal(runNode([], program, { NODE_UNIQUE_ID: undefined }).stdout, 'false\n')
  assert.match(runNode([], program, { NODE_UNIQUE_ID: '1' }).stdout, /^true\n/)
})

test('an import of node:http loads the client for fetch; a lookup with process.getBuiltinModule does not', () => {
  const loads = (statement: string) => {
    const show = "console.log(process.moduleLoadList.some(name => name.includes('undici')))"
    const words = ['--input-type=module', '--eval', `${statement}; ${show}`]
    return spawnSync(process.execPath, words, { encoding: 'utf8' }).stdout
  }
  assert.equal(loads("import { createServer } from 'node:http'; createServer"), 'true\n')
  assert.equal(loads("process.getBuiltinModule('node:http').createServer"), 'false\n')
})

test('threads for disk operations have known names', { skip: process.platform !== 'linux' }, () => {
  statSync('.')
  const names = readdirSync('/proc/self/task').map(id => readFileSync(`/proc/self/task/${id}/comm`, 'utf8'))
  assert.ok(
    names.some(name => name.startsWith('libuv')),
    names.join(),
  )
})

test('a client of pg has the socket of its connection from the beginning', () => {
  // The connection is not among the declared members.
  const { connection } = new Client() as unknown as { connection: { stream: { destroy(): void } } }
  assert.equal(typeof connection.stream.destroy, 'function')
})

test('a pattern of re2js has a cache of states with a size, which can be cleared', () => {
  const pattern = RE2JS.compile('(?i)x+y')
  pattern.test('abab'.repeat(100))
  const { lazyDFA: states } = pattern.re2()
  assert.ok(states)
  const used = () => states.stateBudget - states.memBudget
  const before = used()
  assert.ok(before > 0)
  states.clearCache()
  assert.ok(used() < before)
})

test('with the option permissionsMode, lmdb creates files that only their owner can read', async () => {
  const path = join(folder, 'owned')
  // The types lack this option.
  const store = open({ path, noSubdir: false, ...{ permissionsMode: 0o600 } })
  assert.equal(statSync(join(path, 'data.mdb')).mode & 0o777, 0o600)
  await store.close()
})

test('lmdb takes the number of a transaction from the lock file, and a data file has the number of its newest commit', async t => {
  const path = join(folder, 'numbered')
  const root = open({ path, noSubdir: false, overlappingSync: false, pageSize: 4096 })
  t.after(() => root.close())
  for (const value of [1, 2, 3]) await root.put('key', value)
  const nextNumber = () => root.transactionSync(() => root.getWriteTxnId())
  const data = readFileSync(join(path, 'data.mdb'))
  const [one, other] = [data.readBigUInt64LE(152), data.readBigUInt64LE(4096 + 152)]
  const newest = Number(one > other ? one : other)
  assert.equal(nextNumber(), newest + 1)
  const lock = openSync(join(path, 'lock.mdb'), 'r+')
  t.after(() => closeSync(lock))
  const number = Buffer.alloc(8)
  readSync(lock, number, 0, 8, 8)
  assert.equal(Number(number.readBigUInt64LE()), newest)
  // A process that opens the folder while another one commits can set this number back.
  number.writeBigUInt64LE(BigInt(newest - 1))
  writeSync(lock, number, 0, 8, 8)
  assert.equal(nextNumber(), newest)
})

test('lmdb writes the error of a failed commit to the console, from its own code', () => {
  const program = `
    import * as lmdb from 'lmdb'
import { open } from 'lmdb'
    console.error = error => console.log(error.stack.split('\\n').find(line => line.trimStart().startsWith('at ')))
    const store = open({ path: process.env.FOLDER })
    await store.put('small', 1)
    process.on('SIGXFSZ', () => {})
    await store.put('large', 'x'.repeat(4_000_000)).catch(() => {})
    process.exit()`
  const command = 'ulimit -f 2000; exec "$NODE" --input-type=module --eval "$PROGRAM"'
  const env = { ...process.env, FOLDER: join(folder, 'full'), NODE: process.execPath, PROGRAM: program }
  const { stdout } = spawnSync('sh', ['-c', command], { cwd: repository, env, encoding: 'utf8' })
  assert.match(stdout, /^\s+at .*[\\/]node_modules[\\/]lmdb[\\/]/m)
})

test('a registry of prom-client uses only the name and the values of a metric', async () => {
  const registry = new Registry()
  const values = [{ labels: {}, value: 7, metricName: 'made_up_sum' }]
  const made = { name: 'made_up', get: () => ({ name: 'made_up', help: 'h', type: 'histogram', values }) }
  // An object that does not extend the class, which has more members.
  registry.registerMetric(made as unknown as Metric)
  assert.match(await registry.metrics(), /^made_up_sum 7$/m)
})

test('the page names the tests of this file', () => {
  const page = readFileSync(join(repository, 'docs/internals/inside-dependencies.md'), 'utf8')
  const named = [...page.matchAll(/\| ([^|`]+) \|$/gm)]
    .map(([, name]) => name)
    .filter(name => name !== 'test')
  const own = readFileSync(import.meta.filename, 'utf8')
  const tests = [...own.matchAll(/^test\('(.+?)',/gm)].map(([, name]) => name)
  assert.deepEqual(named, tests.slice(0, -1))
})
