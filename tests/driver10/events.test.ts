// Feeds and streams in the driver `fauna`: reading all pages, reading events as they occur, and continuing from a
// cursor.

import assert from 'node:assert/strict'
import { type Client, type DocumentT, FaunaError, type FeedPage, fql, type StreamToken } from 'fauna'
import { longCallUnits } from '../../src/base/effort.ts'
import { driver10Tests } from './app.ts'

const driverTest = driver10Tests()

type Item = DocumentT<{ n: number }>

/** Creates a collection of items, and returns the source of its changes. */
async function shop(client: Client): Promise<StreamToken> {
  await client.query(fql`Collection.create({ name: 'items' })`)
  return (await client.query<StreamToken>(fql`items.all().eventSource()`)).data
}

function add(client: Client, n: number) {
  return client.query<Item>(fql`items.create({ n: ${n} })`)
}

driverTest('a feed returns past events page by page, and can continue from a cursor', async app => {
  const client = app.client()
  const source = await shop(client)
  for (let n = 1; n <= 5; n++) await add(client, n)
  const feed = client.feed<Item>(source, { page_size: 2 })
  const pages: FeedPage<Item>[] = []
  for await (const page of feed) pages.push(page)
  const numbers = pages.map(({ events }) => [...events].map(event => event.data.n))
  assert.deepEqual(numbers, [[1, 2], [3, 4], [5]])
  const { cursor } = pages.at(-1) as FeedPage<Item>
  await client.query(fql`items.where(.n > 4).forEach(.delete())`)
  const rest = client.feed<Item>(source, { cursor })
  const told = await Array.fromAsync(rest.flatten())
  const seen = told.map(({ data, type }) => [type, data.n])
  assert.deepEqual(seen, [['remove', 5]])
})

driverTest('a feed can be created from a query that returns its source', async app => {
  const client = app.client()
  await shop(client)
  const { txn_ts: startTs } = await add(client, 1)
  await add(client, 2)
  const feed = client.feed<Item>(fql`items.all().eventSource()`, { start_ts: startTs as number })
  const told = await Array.fromAsync(feed.flatten())
  const seen = told.map(({ data, type }) => [type, data.n])
  assert.deepEqual(seen, [['add', 2]])
})

driverTest('a stream delivers events, and another stream can continue from its last event', async app => {
  const client = app.client()
  const source = await shop(client)
  const stream = client.stream<Item>(source, { status_events: true })
  const seen: string[] = []
  let cursor = ''
  // An event may arrive before the response to its query, and the driver loses data that arrives over HTTP/2 while this
  // loop waits for something else. So the loop does not wait for its queries.
  const queries: Promise<unknown>[] = []
  for await (const event of stream) {
    if (event.type === 'status') {
      if (queries.length === 0) queries.push(add(client, 1))
      continue
    }
    seen.push(`${event.type} ${event.data.n}`)
    cursor = event.cursor
    if (event.type !== 'add') break
    queries.push(client.query(fql`items.all().forEach(.update({ n: 7 }))`))
  }
  stream.close()
  await Promise.all(queries)
  assert.deepEqual(seen, ['add 1', 'update 7'])
  await add(client, 8)
  const next = client.stream<Item>(source, { cursor })
  for await (const event of next) {
    if (event.type === 'status') continue
    assert.deepEqual([event.type, event.data.n], ['add', 8])
    break
  }
  next.close()
})

driverTest(
  'a document with a long text, whose event the slow lane reads, arrives in streams and feeds',
  async app => {
    const client = app.client()
    const source = await shop(client)
    const text = 'x'.repeat(2 * longCallUnits)
    const stream = client.stream<DocumentT<{ text: string }>>(source, { status_events: true })
    // Another process commits the document, so its event may arrive before the response to the client. The driver loses
    // data that arrives over HTTP/2 while this loop waits for something else.
    let created: Promise<unknown> | undefined
    for await (const event of stream) {
      if (event.type === 'status') created ??= client.query(fql`items.create({ text: ${text} })`)
      else {
        assert.equal(event.data.text, text)
        break
      }
    }
    stream.close()
    await created
    const told = await Array.fromAsync(client.feed<DocumentT<{ text: string }>>(source).flatten())
    const texts = told.map(({ data }) => data.text)
    assert.deepEqual(texts, [text])
  },
)

driverTest('errors of events arrive as errors of the driver', async app => {
  const client = app.client()
  await shop(client)
  const { data: source } = await client.query<StreamToken>(fql`items.all().eventSource().map(i => 1 / i.n)`)
  await add(client, 0)
  const stream = client.stream(source)
  await assert.rejects(async () => {
    for await (const event of stream) assert.equal(event.type, 'status')
  }, FaunaError)
  stream.close()
  const feed = client.feed<number>(source)
  await assert.rejects(async () => {
    for await (const event of feed.flatten()) assert.equal(event.type, 'add')
  }, FaunaError)
})
