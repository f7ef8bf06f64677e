// The case `languages`: compares the two languages with the same work on the same documents, in turns. Also compares
// pages of version 10's feeds with pages of an index, and measures the parsing of a query.

import { programOf } from '../src/fql10/request.ts'
import { parseQuery } from '../src/fql10/syntax/parse-query.ts'
import { Source } from '../src/fql10/syntax/source.ts'
import { keyOfNewDatabase, send } from '../tests/support/http.ts'
import { BenchServer } from './bench-server.ts'
import { reference } from './cases.ts'
import { createSchema, document, groupSize, literal, loadDocuments } from './documents.ts'
import { heading } from './report.ts'
import { type Comparison, compare, type TurnPlan, type Work } from './turns.ts'

interface LanguageOptions {
  readonly folder: string
  readonly documents: number
  readonly plan: TurnPlan
}

const requestCount = 500

export async function runLanguages({ documents, folder, plan }: LanguageOptions): Promise<void> {
  const server = await BenchServer.start(folder)
  try {
    const { url } = server.process
    const secret = await keyOfNewDatabase(server.process, 'bench', 'admin')
    await createSchema(url, secret)
    const ids = await loadDocuments(url, secret, 0, documents)
    await prepareVersion10(url, secret)
    console.log(`\nlanguages: the same work in version 4 and in version 10\n${heading}`)
    for (const each of [await feedCase(url, secret, ids.length), ...languageCases(ids)]) {
      await tryCase(each, server.process.url, secret)
      await compare(each, server, secret, plan)
    }
    const { parsed, remembered } = measureParsing()
    console.log(`parsing 1 KB of version 10: ${parsed.toFixed(1)} µs, remembered ${remembered.toFixed(2)} µs`)
  } finally {
    await server.stop()
  }
}

/** Prepares the cases of version 10. `secret` needs the role admin. */
async function prepareVersion10(url: string, secret: string): Promise<void> {
  const byGroup = '{ terms: [{ field: "group" }], values: [{ field: "number" }] }'
  const text = `Collection.byName("documents")!.update({ indexes: { byGroup: ${byGroup} } }).indexes.byGroup.status`
  const deadline = Date.now() + 60_000
  for (let body = text; ; body = 'Collection.byName("documents")!.indexes.byGroup.status') {
    const {
      json,
      status,
      text: answer,
    } = await send({ url }, { path: '/query/1', secret, body: JSON.stringify({ query: body }) })
    if (status !== 200) throw new Error(answer)
    if ((json as { data: unknown }).data === 'complete') return
    if (Date.now() > deadline) throw new Error(`the index is not complete: ${answer}`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

const in4 = (bodies: readonly unknown[]): Work => ({ title: 'version 4', path: '/', bodies })
const in10 = (bodies: readonly unknown[]): Work => ({ title: 'version 10', path: '/query/1', bodies })

/** Results are tagged JSON. Throws when the body is rejected. */
async function ask(url: string, secret: string, path: string, body: unknown): Promise<unknown> {
  const headers = { 'x-format': 'tagged' }
  const { json, status, text } = await send({ url }, { path, secret, body: JSON.stringify(body), headers })
  if (status !== 200 && status !== 201) throw new Error(text)
  return json
}

/** The number of elements of a page of an index, and of events of a page of a feed. */
const pageSize = 64

/** Consecutive pages of the feed of all documents, compared with pages of an index. */
async function feedCase(url: string, secret: string, documents: number): Promise<Comparison> {
  const about = { query: '[documents.all().eventSource(), documents.all().first()!.ts.toMicros()]' }
  const { data } = (await ask(url, secret, '/query/1', about)) as {
    data: readonly [{ '@stream': string }, { '@long': string }]
  }
  const [{ '@stream': token }, { '@long': first }] = data
  const body = { token, page_size: pageSize }
  // There are as many pages as groups, so that both kinds repeatedly read the same number of documents.
  const groups = Math.floor(documents / groupSize)
  const feeds: unknown[] = []
  for (let start: object = { start_ts: Number(first) - 1 }; feeds.length < Math.min(requestCount, groups); ) {
    feeds.push({ ...body, ...start })
    const page = (await ask(url, secret, '/feed/1', feeds.at(-1))) as { cursor: string; has_next: boolean }
    if (!page.has_next) break
    start = { cursor: page.cursor }
  }
  const query = `documents.byGroup(group).pageSize(${pageSize})`
  const pages = feeds.map((_, n) => ({ query, arguments: { group: { '@int': String(n) } } }))
  return {
    name: `page of ${pageSize}`,
    baseline: { title: 'index', path: '/query/1', bodies: pages },
    compared: { title: 'feed', path: '/feed/1', bodies: feeds },
  }
}

/** Length to which the time of parsing is scaled, and the number of repetitions. */
const parsedChars = 1024
const parsedTimes = 20_000

/** CPU microseconds of parsing a query of 1 KB, and of finding it in the cache. */
function measureParsing(): { readonly parsed: number; readonly remembered: number } {
  let text = ''
  for (let n = 0; text.length < parsedChars; n++) {
    text += `let order${n} = Order.byCustomer("a${n}").firstWhere(o => o.total > ${n} + 2 * 3 && o.state == "open")\n`
    text += `if (order${n}?.state == "open") { order${n}!.update({ items: [{ sku: "x", count: ${n} }] }) }\n`
  }
  const query = { text: `${text}Order.all().take(3)`, placeholders: [], values: [] }
  const microsOf = (work: () => unknown): number => {
    for (let n = 0; n < parsedTimes; n++) work()
    const before = process.cpuUsage()
    for (let n = 0; n < parsedTimes; n++) work()
    const { system, user } = process.cpuUsage(before)
    return (user + system) / parsedTimes
  }
  return {
    parsed:
      (microsOf(() => parseQuery(new Source('*query*', query.text), [])) * parsedChars) / query.text.length,
    remembered: microsOf(() => programOf(query)),
  }
}

function languageCases(ids: readonly string[]): readonly Comparison[] {
  const groups = Math.max(1, Math.floor(ids.length / groupSize))
  const numbered = <T>(make: (n: number) => T) => Array.from({ length: requestCount }, (_, n) => make(n))
  // A prime number, so that consecutive requests do not read neighbouring documents.
  const idOf = (n: number) => ids[(n * 7919) % ids.length] as string
  const lookUp = { lambda: ['number', 'ref'], expr: { get: { var: 'ref' } } }
  const all = { paginate: { documents: { collection: 'documents' } }, size: 100_000 }
  const isSmall = {
    lambda: 'ref',
    expr: { lt: [{ select: ['data', 'number'], from: { get: { var: 'ref' } } }, 5] },
  }
  return [
    {
      name: 'get by id',
      baseline: in4(numbered(n => ({ get: reference(idOf(n)) }))),
      compared: in10(numbered(n => ({ query: 'documents.byId(id)!', arguments: { id: idOf(n) } }))),
    },
    {
      name: 'page of 16 documents',
      baseline: in4(
        numbered(n => ({
          map: lookUp,
          collection: { paginate: { match: { index: 'by_group' }, terms: n % groups }, size: 16 },
        })),
      ),
      compared: in10(
        numbered(n => ({
          query: 'documents.byGroup(group)',
          arguments: { group: { '@int': String(n % groups) } },
        })),
      ),
    },
    {
      name: `where over ${ids.length} documents`,
      connections: 2,
      baseline: in4([{ filter: isSmall, collection: all }]),
      compared: in10([{ query: 'documents.where(.number < 5).toArray()' }]),
    },
    // Last, because it makes the collection longer.
    {
      name: 'create',
      baseline: in4(
        numbered(n => ({
          create: { collection: 'documents' },
          params: literal({ data: literal(document(2_000_000_000 + n)) }),
        })),
      ),
      compared: in10(
        numbered(n => ({
          query: 'documents.create(fields)',
          arguments: { fields: tagged(document(2_000_000_000 + n)) },
        })),
      ),
    },
  ]
}

function tagged(fields: object): object {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'number' ? { '@int': String(value) } : value]),
  )
}

/** Sends one request of each kind, so that mistakes show before the measurement. */
async function tryCase({ baseline, compared }: Comparison, url: string, secret: string): Promise<void> {
  for (const { bodies, path } of [baseline, compared]) await ask(url, secret, path, bodies[0])
}
