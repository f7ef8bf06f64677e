// Feeds and streams of version 10 over nodes. A source from one node works on all nodes, and every write is reported on
// all nodes, once and in order, even after a node is killed. Limits and logs include the costs on every node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exported, type LogRecord } from '../query-log/log-client.ts'
import { StreamReader } from '../streams/stream-client.ts'
import { eventually } from '../support/eventually.ts'
import { fql, keyOfNewDatabase, send, sendFql } from '../support/http.ts'
import { describeNodes, type Node, type TwoNodes } from './cluster.ts'

interface FeedEvent {
  readonly type: string
  readonly cursor: string
  readonly data?: { readonly '@int': string }
}

interface Page {
  readonly events: readonly FeedEvent[]
  readonly cursor: string
  readonly has_next: boolean
}

const post = (node: Node, secret: string, path: string, body: object) =>
  send(node, { secret, path, body: JSON.stringify(body) })

async function page(node: Node, secret: string, body: object): Promise<Page> {
  const { json, status, text } = await post(node, secret, '/feed/1', body)
  assert.equal(status, 200, text)
  return json as Page
}

async function openStream(node: Node, secret: string, body: object): Promise<StreamReader> {
  const abort = new AbortController()
  const headers = { authorization: `Bearer ${secret}` }
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal: abort.signal }
  const response = await fetch(`${node.url}/stream/1`, request)
  assert.equal(response.status, 200)
  return new StreamReader(response, abort)
}

const parsed = ({ text }: { readonly text: string }) => JSON.parse(text) as FeedEvent
const numberOf = ({ data }: FeedEvent) => Number(data?.['@int'])
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

const flags = ['--compute-ops-per-second', '1000', '--password-cost', '6'] as const

let databases = 0
/**
 * A database with a collection `Jar` on both nodes, and the source of its numbers, which the first node has created.
 */
async function jars(nodes: TwoNodes) {
  const secret = await keyOfNewDatabase(nodes.a, `jars${databases++}`, 'admin')
  await fql(nodes.a, secret, 'Collection.create({ name: "Jar", history_days: 1 })')
  const token = (await fql(nodes.a, secret, 'Jar.all().map(.n).eventSource()')) as string
  const isOnOther = async () => (await post(nodes.b, secret, '/feed/1', { token })).status === 200
  await eventually('the other node has the collection', isOnOther)
  return { secret, token }
}

/** Tests the feeds and streams of both nodes. */
function testFeedsAndStreams(nodes: TwoNodes): void {
  test('a feed continues at its cursor on either node during writes on both', async () => {
    const { secret, token } = await jars(nodes)
    const told: number[] = []
    let cursor: string | undefined
    let written = 0
    for (let round = 0; round < 12; round++) {
      const [writer, reader] = round % 2 === 0 ? [nodes.a, nodes.b] : [nodes.b, nodes.a]
      for (let each = 0; each < 3; each++) await fql(writer, secret, `Jar.create({ n: ${written++} })`)
      await eventually('the other node tells them', async () => {
        const next = await page(reader, secret, { token, page_size: 2, ...(cursor && { cursor }) })
        ;({ cursor } = next)
        told.push(...next.events.map(numberOf))
        return told.length >= written
      })
    }
    assert.deepEqual(told, upTo(written))
  })

  test('a stream continues at its cursor on the other node after a kill: no event is lost or repeated', async () => {
    const { secret, token } = await jars(nodes)
    let written = 0
    let isOver = false
    const writing = (async () => {
      while (!isOver) {
        await fql(nodes.a, secret, `Jar.create({ n: ${written} })`)
        written++
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    })()
    const told: number[] = []
    let cursor = ''
    const follow = async (reader: StreamReader, count: number) => {
      for (let line = await reader.read(); line !== undefined; line = await reader.read()) {
        const event = parsed(line)
        if (event.type !== 'status') told.push(numberOf(event))
        ;({ cursor } = event)
        if (told.length >= count) break
      }
    }
    try {
      const first = await openStream(nodes.b, secret, { token })
      await follow(first, 10)
      await nodes.cluster.kill(nodes.b)
      await follow(first, Number.POSITIVE_INFINITY).catch(() => undefined)
      const second = await openStream(nodes.a, secret, { token, cursor })
      await follow(second, told.length + 10)
      second.close()
      nodes.b = await nodes.cluster.start({ data: nodes.b.data, flags })
      const third = await openStream(nodes.b, secret, { token, cursor })
      await follow(third, told.length + 10)
      third.close()
    } finally {
      isOver = true
      await writing
    }
    assert.deepEqual(told, upTo(told.length))
  })

  test('streams of both nodes deliver the same events, and end when the credential is revoked', async () => {
    const { secret, token } = await jars(nodes)
    const reading = (await fql(nodes.a, secret, 'Key.create({ role: "server" }).secret')) as string
    const streams = await Promise.all([nodes.a, nodes.b].map(node => openStream(node, reading, { token })))
    for (const stream of streams) assert.equal((await stream.next()).type, 'status')
    for (const n of upTo(20)) await fql(n % 2 === 0 ? nodes.a : nodes.b, secret, `Jar.create({ n: ${n} })`)
    const texts: string[][] = []
    for (const stream of streams) {
      const lines = []
      for (const _ of upTo(20)) lines.push(await stream.next())
      assert.deepEqual(
        lines.map(line => numberOf(parsed(line))),
        upTo(20),
      )
      texts.push(lines.map(line => parsed(line).cursor))
    }
    assert.deepEqual(texts[0], texts[1])
    await fql(nodes.a, secret, 'Key.all().where(.role == "server").forEach(.delete())')
    for (const stream of streams) {
      const { event, text } = await stream.next()
      assert.equal(event, undefined)
      assert.equal(JSON.parse(text).error.code, 'permission_loss')
      assert.equal(await stream.read(), undefined)
    }
  })
}

/** Tests the costs of events, and their records in the log. */
function testAccounts(nodes: TwoNodes): void {
  test('the costs of events on one node count on the other, and other databases are not affected', async () => {
    const { secret } = await jars(nodes)
    const other = await jars(nodes)
    const costly = 'Jar.all().map(j => Set.sequence(0, 15000).map(n => n + 1).toArray().length).eventSource()'
    const token = (await fql(nodes.a, secret, costly)) as string
    await fql(nodes.a, secret, 'Set.sequence(0, 20).forEach(n => Jar.create({ n: n }))')
    const isRefused = async (node: Node) => {
      const { json, status } = await sendFql(node, secret, '1')
      if (status !== 429) return false
      const { error, stats } = json as { error: { code: string }; stats: { rate_limits_hit: unknown } }
      assert.deepEqual([error.code, stats.rate_limits_hit], ['limit_exceeded', ['compute']])
      return true
    }
    // The debt of a page lasts some seconds, which may be less than a busy machine needs for the notice.
    await eventually('the other node rejects queries and pages', async () => {
      const { status, text } = await post(nodes.b, secret, '/feed/1', { token })
      assert.ok(status === 200 || status === 429, text)
      return (await isRefused(nodes.a)) && (await post(nodes.a, secret, '/feed/1', { token })).status === 429
    })
    assert.equal((await page(nodes.a, other.secret, { token: other.token })).events.length, 0)
  })

  test('pages and streams are in the query log, whichever node has served them', async () => {
    const { secret, token } = await jars(nodes)
    await fql(nodes.a, secret, 'Jar.create({ n: 1 })')
    await eventually('both know of it', async () => {
      const pages = await Promise.all([nodes.a, nodes.b].map(node => page(node, secret, { token })))
      return pages.every(({ events }) => events.length === 1)
    })
    const stream = await openStream(nodes.b, secret, { token })
    assert.equal((await stream.next()).type, 'status')
    stream.close()
    const database = `jars${databases - 1}`
    // The log shows the body of pages and streams, because they have no query text.
    const told = async () => {
      const records = await exported(nodes.a, nodes.a.rootSecret, { region_group: 'us-std' })
      return records.filter(
        each => each.FQL_SHAPE === '{"token":"?"}' && JSON.stringify(each.DATABASE) === `["${database}"]`,
      )
    }
    let records: readonly LogRecord[] = []
    await eventually('the log of all nodes has them', async () => {
      records = await told()
      return records.some(({ BYTES_OUT: sent }) => sent === 0)
    })
    const paged = records.filter(({ BYTE_READ_OPS: ops }) => ops !== 0)
    assert.ok(paged.length >= 2, 'a page costs what it reads')
    for (const each of records) {
      assert.deepEqual([each.API_VERSION, each.RESPONSE_CODE, each.REQUEST_METHOD], ['10', '200', 'POST'])
    }
  })
}

describeNodes(
  'events over nodes',
  nodes => {
    testFeedsAndStreams(nodes)
    testAccounts(nodes)
  },
  { a: { flags }, b: { flags } },
)
