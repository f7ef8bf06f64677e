// Three nodes behind the shipped load balancer configuration (deploy/haproxy.cfg). For the driver they are one service,
// whichever node gets a request, and no response is lost while the nodes are restarted one after the other. The file
// takes more than 20 seconds, because three nodes restart one after the other, each with the grace period of its
// shutdown.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import faunadb from 'faunadb'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { query, send } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { freePort, noPostgres } from '../support/postgres.ts'
import { isInstalled } from '../support/program.ts'
import { postgresOfFile } from '../support/record.ts'
import { Cluster, type Node } from './cluster.ts'

const { query: q } = faunadb

const skip = noPostgres ?? (isInstalled('haproxy', '-v') ? undefined : 'haproxy is not installed')
const shipped = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url))
const nodesCount = 3
/** The notice of a shutdown, in milliseconds. The test ends it when the balancer has noticed the shutdown. */
const noticeMs = '60000'
const flags = ['--shutdown-notice-ms', noticeMs, '--trusted-proxies', '127.0.0.1', '--password-cost', '4']
/** The column of the balancer's statistics with the status of a server. */
const statusColumn = 17

/**
 * The shipped configuration with the addresses of these nodes, another limit of connections, a socket for statistics,
 * and a time limit for checks that no busy machine reaches. With `isSpread`, it uses the alternative that the shipped
 * file contains as a comment.
 */
function configuration(port: number, nodes: readonly Node[], isSpread: boolean, socket: string): string {
  const servers = nodes.map((node, at) => `  server node${at + 1} ${new URL(node.url).host}`)
  const original = readFileSync(shipped, 'utf8')
  const alternative = original
    .replace(/^ {2}balance hdr.*\n {2}hash-type.*\n/m, '')
    .replace('# balance leastconn', 'balance leastconn')
  return (isSpread ? alternative : original)
    .replace('maxconn 20000', `maxconn 200\n  stats socket ${socket}`)
    .replace('timeout connect 5s', 'timeout connect 5s\n  timeout check 60s')
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replace(/( {2}server node\d node\d:8443\n)+/, `${servers.join('\n')}\n`)
}

const postgres = postgresOfFile()
let cluster: Cluster
let nodes: Node[]
const balancers: ChildProcess[] = []
let balancer: Balancer
/** The balancer that sends each request to another node. */
let spread: Balancer

interface Balancer {
  readonly url: string
  readonly port: number
  /** The socket for statistics. */
  readonly socket: string
}

before(async () => {
  if (skip) return
  cluster = new Cluster(postgres)
  nodes = await Promise.all(Array.from({ length: nodesCount }, async (_, at) => start(at, await freePort())))
  await cluster.prepare(nodes[0] as Node)
  balancer = await balance(false)
  spread = await balance(true)
})

/** The file that ends the notice of a node's shutdown. */
const markOf = (at: number) => join(folder, `node ${at + 1} may exit`)

/** Starts a node, which keeps its port over restarts. */
function start(at: number, port: number, data?: string): Promise<Node> {
  return cluster.start({
    ...(data !== undefined && { data }),
    flags: ['--port', String(port), ...flags],
    preload: 'notice-end.ts',
    env: { NOTICE_MS: noticeMs, NOTICE_END_MARK: markOf(at) },
  })
}

/** Waits until the balancer has a status for a node: UP or DOWN. */
async function balancerHas(at: number, status: string): Promise<void> {
  await eventually(`node ${at + 1} is ${status} for the balancer`, async () => {
    const rows = (await text(connect(balancer.socket).end('show stat\n'))).split('\n')
    const row = rows.map(each => each.split(',')).find(([, name]) => name === `node${at + 1}`)
    return row?.[statusColumn] === status
  })
}

/** Starts a balancer; resolves when it serves. */
async function balance(isSpread: boolean): Promise<Balancer> {
  const port = await freePort()
  const own = await mkdtemp(join(folder, 'haproxy-'))
  const [file, socket] = [join(own, 'haproxy.cfg'), join(own, 'statistics')]
  await writeFile(file, configuration(port, nodes, isSpread, socket))
  balancers.push(spawn('haproxy', ['-f', file], { stdio: ['ignore', 'ignore', 'inherit'] }))
  const url = `http://127.0.0.1:${port}`
  await eventually('the balancer serves', async () => {
    const ping = await send({ url }, { method: 'GET', path: '/ping' }).catch(() => undefined)
    return ping?.status === 200
  })
  return { url, port, socket }
}

after(async () => {
  if (skip) return
  const ended = Promise.all(balancers.map(haproxy => once(haproxy, 'close')))
  for (const haproxy of balancers) haproxy.kill('SIGKILL')
  await ended
  await cluster[Symbol.asyncDispose]()
})
// The hook that removes the folder runs after the hook that ends the balancers.
const folder = folderOfFile()

function clientOf(secret: string): faunadb.Client {
  const timeout = patience(30_000) / 1000
  return new faunadb.Client({ secret, domain: '127.0.0.1', port: spread.port, scheme: 'http', timeout })
}

/** Tests how the shipped configuration chooses nodes. */
function testCredentials(): void {
  test('clients with the same credential use the same node, and read the writes of other clients', async () => {
    const keys = [cluster.secret]
    const key = { create_key: { object: { role: 'server' } } }
    for (let n = 0; n < 8; n++) {
      const made = await query(balancer, cluster.secret, key)
      keys.push((made as { secret: string }).secret)
    }
    const nodesUsed = new Set<number>()
    for (const secret of keys) {
      const ids = new Set<number>()
      for (let n = 0; n < 6; n++) {
        // Each request has a connection of its own. The low ten bits of an id identify the process that drew it.
        const headers = { connection: 'close' }
        const { json } = await send(balancer, { secret, query: { new_id: null }, headers })
        ids.add(Number(BigInt((json as { resource: string }).resource) & 1023n))
      }
      assert.equal(ids.size, 1)
      for (const id of ids) nodesUsed.add(id)
    }
    assert.ok(nodesUsed.size > 1, 'credentials are spread over the nodes')
    const create = { create: { collection: 'counters' } }
    for (let n = 0; n < 30; n++) {
      const { ref } = (await query(balancer, cluster.secret, create)) as { ref: unknown }
      assert.equal(await query(balancer, cluster.secret, { exists: ref }), true)
    }
  })
}

describe('nodes behind a balancer', { skip }, () => {
  testCredentials()

  test("the driver's flows, each request on another node, are those of one machine", async () => {
    const admin = clientOf(cluster.secret)
    await admin.query(q.CreateCollection({ name: 'users' }))
    const terms = [{ field: ['data', 'email'] }]
    const index = { name: 'by_email', source: q.Collection('users'), terms, unique: true }
    await admin.query(q.CreateIndex(index))
    for (let n = 0; n < 30; n++) {
      const email = `user-${n}@example.com`
      const made = await admin.query<{ ref: faunadb.values.Ref }>(
        q.Create(q.Collection('users'), { data: { email, n: 0 }, credentials: { password: 'right' } }),
      )
      // Simulates another service of the same app, which has not seen the first one's transactions.
      const login = clientOf(cluster.secret)
      const { secret } = await login.query<{ secret: string }>(
        q.Login(q.Match(q.Index('by_email'), email), { password: 'right' }),
      )
      const user = clientOf(secret)
      const ref = await user.query<faunadb.values.Ref>(q.CurrentIdentity())
      assert.equal(ref.id, made.ref.id)
      await admin.query(
        q.Update(made.ref, { data: { n: q.Add(1, q.Select(['data', 'n'], q.Get(made.ref))) } }),
      )
      assert.equal(await admin.query(q.Select(['data', 'n'], q.Get(made.ref))), 1)
      const again = admin.query(q.Create(q.Collection('users'), { data: { email } }))
      await assert.rejects(again, /instance not unique/)
      await user.query(q.Logout(true))
      await Promise.all([login.close(), user.close()])
    }
    assert.equal(await admin.query(q.Count(q.Documents(q.Collection('users')))), 30)
    await admin.close()
  })

  test('nodes are restarted one after the other under load: no response is lost, over HTTP/1.1 and HTTP/2', async () => {
    let isOver = false
    let answered = 0
    const lost: string[] = []
    const note = (status: number | string, text = '') => {
      if (status === 201 || status === 200) answered++
      else lost.push(`${status} ${text}`)
    }
    const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })
    const session = http2.connect(balancer.url)
    session.on('error', error => lost.push(`session: ${error.message}`))
    const headers = { authorization: `Bearer ${cluster.secret}`, 'x-faunadb-api-version': '4' }
    const create = JSON.stringify({ create: { collection: 'counters' }, params: { object: {} } })
    const bodies = [create, JSON.stringify({ now: null })]
    const load = async (ask: (body: string) => Promise<void>) => {
      for (let n = 0; !isOver; n++) {
        await ask(bodies[n % bodies.length] as string).catch((error: Error) => note(error.message))
        await setTimeout(5)
      }
    }
    const loads = Promise.all([
      ...Array.from({ length: 4 }, () => load(body => over1(body))),
      ...Array.from({ length: 4 }, () => load(body => over2(body))),
    ])
    async function over1(body: string): Promise<void> {
      const request = http.request(balancer.url, { method: 'POST', agent, headers })
      request.end(body)
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      note(response.statusCode ?? 0, Buffer.concat(await response.toArray()).toString())
    }
    async function over2(body: string): Promise<void> {
      const stream = session.request({ ':method': 'POST', ':path': '/', ...headers })
      stream.end(body)
      const [answer] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
      note(answer[':status'] as unknown as number, Buffer.concat(await stream.toArray()).toString())
    }
    try {
      for (const [at, node] of nodes.entries()) {
        const soFar = answered
        await eventually('requests are answered', () => answered > soFar + 20)
        const stopped = cluster.stop(node)
        await balancerHas(at, 'DOWN')
        await writeFile(markOf(at), '')
        await stopped
        await rm(markOf(at))
        nodes[at] = await start(at, Number(new URL(node.url).port), node.data)
        await balancerHas(at, 'UP')
      }
    } finally {
      isOver = true
      await loads
      agent.destroy()
      session.close()
    }
    assert.deepEqual(lost, [], `${lost.length} of ${answered + lost.length} requests`)
    for (const { data } of nodes) await cluster.check(data)
  })
})
