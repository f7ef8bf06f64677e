// Three nodes behind the shipped load balancer configuration (deploy/haproxy.cfg). For the driver they are one service,
// whichever node gets a request, and no response is lost while the nodes are restarted one after the other. The file
// takes more than 20 seconds, because three nodes restart one after the other, each with the grace period of its
// shutdown.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import http from 'node:http'
import http2 from 'node:http2'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import faunadb from 'faunadb'
import { eventually } from '../support/eventually.ts'
import { query, send } from '../support/http.ts'
import { freePort, noPostgres, PostgresServer } from '../support/postgres.ts'
import { temporaryFolder } from '../support/program.ts'
import { Cluster, type Node } from './cluster.ts'

const { query: q } = faunadb

const skip = noPostgres ?? (isInstalled() ? undefined : 'haproxy is not installed')
const shipped = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url))
const nodesCount = 3
const flags = ['--shutdown-notice-ms', '3000', '--trusted-proxies', '127.0.0.1', '--password-cost', '4']

function isInstalled(): boolean {
  try {
    execFileSync('haproxy', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * The shipped configuration with the addresses of these nodes and another limit of connections. With `isSpread`, it
 * uses the alternative that the shipped file contains as a comment.
 */
function configuration(port: number, nodes: readonly Node[], isSpread: boolean): string {
  const servers = nodes.map((node, at) => `  server node${at + 1} ${new URL(node.url).host}`)
  const text = readFileSync(shipped, 'utf8')
  const alternative = text
    .replace(/^ {2}balance hdr.*\n {2}hash-type.*\n/m, '')
    .replace('# balance leastconn', 'balance leastconn')
  return (isSpread ? alternative : text)
    .replace('maxconn 20000', 'maxconn 200')
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replace(/( {2}server node\d node\d:8443\n)+/, `${servers.join('\n')}\n`)
}

let postgres: PostgresServer
let cluster: Cluster
let nodes: Node[]
const balancers: ChildProcess[] = []
let service: { readonly url: string }
/** The port of the balancer that sends each request to another node. */
let spreadPort = 0

before(async () => {
  if (skip) return
  postgres = await PostgresServer.start()
  cluster = new Cluster(postgres)
  nodes = await Promise.all(Array.from({ length: nodesCount }, () => cluster.start({ flags })))
  await cluster.prepare(nodes[0] as Node)
  service = { url: `http://127.0.0.1:${await balance(false)}` }
  spreadPort = await balance(true)
})

/** Starts a balancer; resolves with its port when it serves. */
async function balance(isSpread: boolean): Promise<number> {
  const port = await freePort()
  const file = join(await temporaryFolder(), 'haproxy.cfg')
  await writeFile(file, configuration(port, nodes, isSpread))
  balancers.push(spawn('haproxy', ['-f', file], { stdio: ['ignore', 'ignore', 'inherit'] }))
  await eventually('the balancer serves', async () => {
    const url = `http://127.0.0.1:${port}`
    const ping = await send({ url }, { method: 'GET', path: '/ping' }).catch(() => undefined)
    return ping?.status === 200
  })
  return port
}

after(async () => {
  if (skip) return
  const ended = Promise.all(balancers.map(haproxy => once(haproxy, 'close')))
  for (const haproxy of balancers) haproxy.kill('SIGKILL')
  await ended
  await cluster.end()
  await postgres.stop()
})

const clientOf = (secret: string) =>
  new faunadb.Client({ secret, domain: '127.0.0.1', port: spreadPort, scheme: 'http', timeout: 30 })

/** Tests how the shipped configuration chooses nodes. */
function testCredentials(): void {
  test('clients with the same credential use the same node, and read the writes of other clients', async () => {
    const keys = [cluster.secret]
    const key = { create_key: { object: { role: 'server' } } }
    for (let n = 0; n < 8; n++) {
      const made = await query(service, cluster.secret, key)
      keys.push((made as { secret: string }).secret)
    }
    const nodesUsed = new Set<number>()
    for (const secret of keys) {
      const ids = new Set<number>()
      for (let n = 0; n < 6; n++) {
        // Each request has a connection of its own. The low ten bits of an id identify the process that drew it.
        const headers = { connection: 'close' }
        const { json } = await send(service, { secret, query: { new_id: null }, headers })
        ids.add(Number(BigInt((json as { resource: string }).resource) & 1023n))
      }
      assert.equal(ids.size, 1)
      for (const id of ids) nodesUsed.add(id)
    }
    assert.ok(nodesUsed.size > 1, 'credentials are spread over the nodes')
    const create = { create: { collection: 'counters' } }
    for (let n = 0; n < 30; n++) {
      const { ref } = (await query(service, cluster.secret, create)) as { ref: unknown }
      assert.equal(await query(service, cluster.secret, { exists: ref }), true)
    }
  })
}

describe('nodes behind a balancer', { skip }, () => {
  testCredentials()

  test("the driver's flows, each request on another node, are those of one machine", async () => {
    const admin = clientOf(cluster.secret)
    await admin.query(q.CreateCollection({ name: 'users' }))
    await admin.query(
      q.CreateIndex({
        name: 'by_email',
        source: q.Collection('users'),
        terms: [{ field: ['data', 'email'] }],
        unique: true,
      }),
    )
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
      await assert.rejects(
        admin.query(q.Create(q.Collection('users'), { data: { email } })),
        /instance not unique/,
      )
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
    const session = http2.connect(service.url)
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
      const request = http.request(service.url, { method: 'POST', agent, headers })
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
        await cluster.stop(node)
        const again = ['--port', new URL(node.url).port, ...flags]
        nodes[at] = await cluster.start({ data: node.data, flags: again })
        // Waits until the balancer has noticed.
        await setTimeout(1_500)
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
