// Exports, details and searches are the same as from the lines that version 0.2 wrote, for random requests.

import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { languages } from '../../src/app/languages.ts'
import { micros } from '../../src/base/micros.ts'
import type { ParsedFacts } from '../../src/query-log/facts.ts'
import { LogAggregate } from '../../src/query-log/log-aggregate.ts'
import { SearchText } from '../../src/query-log/search-text.ts'
import { matchingRecords, recordsOfSegment } from '../../src/query-log/segment-reader.ts'
import type { SegmentRecord } from '../../src/query-log/segment-record.ts'
import { fc } from '../support/fast-check.ts'
import { foldersOfFile } from '../support/folder.ts'
import { startMs } from './manual-time.ts'
import { beforeRecordOf, LineFormat, type ObservedRequest } from './old-lines.ts'
import { plainRequest, type TimedRequest, writeSegment } from './records.ts'

const newFolder = foldersOfFile()
const folder = newFolder()
const format = new LineFormat('us-std', languages)

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('{', '"', '\\', '\n', '\ud800', '…'),
)
const latin1 = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map(code => String.fromCharCode(code)) })
const long = fc.integer({ min: 500, max: 530 }).map(length => 'ü'.repeat(length))
const header = fc.oneof(latin1, long, fc.array(latin1, { minLength: 2, maxLength: 3 }), fc.constant(''))
const integer = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom(
    '0',
    '-1',
    '01',
    '',
    'many',
    '9007199254740990',
    '9007199254740993',
    '9999999999999999',
    '1e3',
  ),
  header,
)
const count = fc.oneof(fc.nat(300), fc.nat(), fc.constantFrom(0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1))
const name = fc.oneof(
  fc.constantFrom('users', 'byName', 'größe', 'a_b'),
  fc.stringMatching(/^[A-Za-z_]{1,8}$/),
)
const hex = (digits: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`))

const named = fc.array(fc.record({ kind: fc.constantFrom('collection', 'index', 'function'), name }), {
  maxLength: 4,
})

/** A query that contains names, values and words of the language. */
const query = {
  '4': fc.oneof(
    fc
      .tuple(name, name, text)
      .map(([index, collection, value]) =>
        JSON.stringify({ get: { match: { index }, terms: value }, from: { collection } }),
      ),
    fc.tuple(name, fc.nat()).map(([name, id]) => JSON.stringify({ get: { ref: { collection: name }, id } })),
    text,
  ),
  '10': fc.oneof(
    fc
      .tuple(name, name, text)
      .map(([collection, index, value]) =>
        JSON.stringify({ query: `${collection}.${index}(${JSON.stringify(value)}).map(.name) /* x */` }),
      ),
    fc.constant('{"token":"x","cursor":"y"}'),
    text,
  ),
  graphql: fc.oneof(
    name.map(name => JSON.stringify({ query: `{ ${name}(_size: 3) { data { name } } }` })),
    text,
  ),
}

const template = fc
  .array(fc.tuple(text, fc.oneof(text, name, fc.constantFrom('Number', 'Integer, Double', 'data'))), {
    maxLength: 3,
  })
  .chain(parts =>
    text.map(end => ({
      pieces: [...parts.map(([piece]) => piece), end],
      quoted: parts.map(([, word]) => word),
    })),
  )

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const headers = fc.record(
  {
    'x-forwarded-for': header,
    'user-agent': header,
    'x-runtime-environment': header,
    'x-runtime-environment-os': header,
    'x-nodejs-version': header,
    'x-driver-env': header,
    'x-max-retries-on-contention': integer,
    'x-query-timeout': integer,
    'x-last-seen-txn': integer,
    authorization: fc.constant('Bearer hunter2'),
  },
  { requiredKeys: [] },
)

const request: fc.Arbitrary<ObservedRequest> = fc
  .constantFrom('4' as const, '10' as const, 'graphql' as const)
  .chain(language =>
    fc.record({
      language: fc.constant(language),
      query: maybe(query[language]),
      method: fc.oneof(fc.constantFrom('POST', 'GET'), text, long),
      headers,
      apiVersion: fc.oneof(fc.constantFrom('4', '10', ''), text, long),
      bytesIn: count,
      bytesOut: count,
      status: fc.constantFrom(200, 400, 401, 404, 410, 500, 503),
      costs: maybe(
        fc.record({
          computeOps: count,
          byteReadOps: count,
          byteWriteOps: count,
          queryTimeMs: count,
          txnRetries: count,
          rateLimited: fc.subarray(['write', 'compute', 'read']),
        }),
      ),
      database: maybe(
        fc
          .array(fc.tuple(text, fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })), { maxLength: 3 })
          .map(path => ({ names: path.map(([name]) => name), ids: path.map(([, id]) => id) })),
      ),
      tags: fc.uniqueArray(fc.tuple(name, name), { selector: ([key]) => key, maxLength: 3 }),
      facts: fc.record({
        caller: maybe(
          fc.record({
            credential: fc.constantFrom('root', 'provider', 'key/17/123', 'token/17/9223372036854775807'),
            roles: fc.oneof(
              fc.constant(['admin']),
              fc.array(
                fc.nat().map(id => `#${id}`),
                { maxLength: 3 },
              ),
            ),
            identity: maybe(fc.oneof(text, long, fc.constant('1024/77'))),
          }),
        ),
        address: fc.oneof(fc.constantFrom('10.0.0.1', '2001:db8:0:0::/64'), long),
        endpoint: fc.constantFrom('/', '/query/1', '/graphql'),
        isSlow: fc.boolean(),
        named: named as fc.Arbitrary<ParsedFacts['named']>,
        commitTime: maybe(fc.nat(2 ** 31 - 1).map(time => micros(1_700_000_000_000_000 + time))),
      }),
      fault: maybe(
        fc.record({ code: fc.oneof(fc.constant('not found'), text), text: template, position: template }),
      ),
      traceId: hex(32),
      spanId: hex(16),
    }),
  )

/** The edge records a commit time only for requests that wrote. */
function asRecorded(request: ObservedRequest): ObservedRequest {
  const { costs, facts } = request
  return costs !== undefined && costs.byteWriteOps > 0
    ? request
    : { ...request, ...(facts && { facts: { ...facts, commitTime: undefined } }) }
}

async function entriesIn<T>(path: string, look: (entry: SegmentRecord) => T): Promise<T[]> {
  const found: T[] = []
  for await (const entries of recordsOfSegment(path)) for (const entry of entries) found.push(look(entry))
  return found
}

async function exportOf(folder: string): Promise<string> {
  const blocks: Buffer[] = []
  for await (const block of matchingRecords(folder, { from: 0, to: 9e12, regionGroup: 'us-std' }))
    blocks.push(block)
  return Buffer.concat(blocks).toString()
}

/** What readers see of a record. A text in which old lines contain `U+FFFD` for an unpaired surrogate is the same. */
const seen = (entry: SegmentRecord) => ({
  time: entry.time,
  trail: entry.trail,
  regionGroup: entry.regionGroup,
  database: JSON.parse(entry.line()).DATABASE,
  status: entry.status,
  numbers: [
    entry.queryTimeMs,
    entry.readOps,
    entry.writeOps,
    entry.computeOps,
    entry.bytesIn,
    entry.bytesOut,
  ],
  retries: entry.retries,
  tags: entry.tags ?? {},
  shape: entry.shape,
  fault: entry.fault,
  facts: entry.facts(),
  line: entry.line(),
})

const requests = fc.array(fc.tuple(request, fc.nat(70_000)), { minLength: 1, maxLength: 40 })

test('exported lines, details, sums and searches are those of version 0.2', async () => {
  await fc.assert(
    fc.asyncProperty(requests, fc.oneof(text, name), fc.nat(), async (list, searched, place) => {
      const own = newFolder()
      let time = startMs * 1000
      const timed: TimedRequest[] = list.map(([request, passed]) => {
        time += 1 + passed
        return { time: micros(time), request: asRecorded(request) }
      })
      const path = await writeSegment(own, 'a1', timed, languages)
      const lines = timed.map(({ request, time }) => {
        const { facts, record } = format.parts(request, time)
        return { before: beforeRecordOf(request.database, facts), record }
      })
      assert.equal(await exportOf(own), lines.map(({ record }) => record).join(''))
      rmSync(path)
      const old = join(own, '0000000000000000001-b1.ndjson')
      writeFileSync(old, lines.map(({ before, record }) => before + record).join(''))
      const stored = await writeSegment(newFolder(), 'a1', timed, languages)
      assert.deepEqual(await entriesIn(stored, seen), await entriesIn(old, seen))
      const sums = async (path: string) => {
        const aggregate = new LogAggregate()
        await entriesIn(path, entry => aggregate.add(entry))
        return aggregate.databases
      }
      assert.deepEqual(await sums(stored), await sums(old))
      // A part of a line is found in this record at least.
      const { record } = lines[place % lines.length] as (typeof lines)[number]
      const from = place % record.length
      for (const text of [searched, record.slice(from, from + 1 + (place % 12))]) {
        const search = new SearchText(text)
        const found = async (path: string) => entriesIn(path, entry => entry.contains(search))
        assert.deepEqual(await found(stored), await found(old), text)
      }
    }),
    { numRuns: 300 },
  )
})

test('clients that send new texts with each request end sections, and the tables of texts stay small', async () => {
  const timed = Array.from(
    { length: 12_000 },
    (_, at): TimedRequest => ({
      time: micros(startMs * 1000 + at),
      request: {
        ...plainRequest,
        headers: {
          'user-agent': `agent ${at}`,
          'x-driver-env': `driver ${at}`,
          'x-forwarded-for': `${at % 7}`,
        },
        database: at % 2 === 0 ? { names: ['own'], ids: [1n] } : { names: ['other'], ids: [2n] },
      },
    }),
  )
  const path = await writeSegment(folder, 'c1', timed)
  const lines = timed.map(({ request, time }) => format.parts(request, time).record.trimEnd())
  assert.deepEqual(await entriesIn(path, entry => entry.line()), lines)
  const bytes = readFileSync(path)
  const heads: { readonly section: number; readonly texts: number }[] = []
  for (let at = bytes.indexOf('\n') + 1; at < bytes.length; at += bytes.readUInt32LE(at + 8))
    heads.push({ section: bytes.readUInt32LE(at + 16), texts: bytes.readUInt32LE(at + 20) })
  assert.ok(Math.max(...heads.map(({ section }) => section)) > 1)
  assert.ok(heads.every(({ texts }) => texts <= 16_384))
})

test('a record of a common request takes at most 120 bytes', async () => {
  const timed = Array.from(
    { length: 20_000 },
    (_, at): TimedRequest => ({
      time: micros(startMs * 1000 + at * 50),
      request: {
        ...plainRequest,
        headers: {
          'user-agent': 'Fauna/4.8.0',
          'x-driver-env': 'driver=javascript-4.8.0; runtime=nodejs-20',
          'x-last-seen-txn': `${startMs * 1000 + at}`,
        },
        query: JSON.stringify({ get: { ref: { collection: 'users' }, id: String(at) } }),
        bytesIn: 55,
        bytesOut: 300,
        costs: {
          computeOps: 1,
          byteReadOps: 1,
          byteWriteOps: 0,
          queryTimeMs: 1,
          txnRetries: 0,
          rateLimited: [],
        },
        facts: {
          caller: { credential: `key/17/${at % 100}`, roles: ['server'], identity: undefined },
          address: '10.0.0.1',
          endpoint: '/',
          isSlow: false,
          named: [{ kind: 'collection', name: 'users' }],
        },
        database: { names: ['app'], ids: [17n] },
      },
    }),
  )
  const path = await writeSegment(folder, 'd1', timed)
  const bytes = readFileSync(path).length / timed.length
  assert.ok(bytes <= 120, `${bytes} bytes`)
})
