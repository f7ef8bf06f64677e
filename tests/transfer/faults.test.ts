// Errors in the input are reported with file, line and id. Correct documents are imported completely, and nothing is
// written in part.

import assert from 'node:assert/strict'
import { appendFile, cp, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { document, fixtures, openTestDatabase } from './importing.ts'

const object = (fields: object) => ({ object: fields })

/** Lines in the form in which a script with a driver prints documents. */
function lines(collection: string, ids: readonly number[], data: (id: number) => object): string[] {
  return ids.map(id =>
    JSON.stringify({ ref: document(collection, String(id)), ts: 1600000000000000 + id, data: data(id) }),
  )
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('invalid JSON in a late line is reported; the lines around it can be imported', async t => {
  const database = await openTestDatabase(t)
  const content = lines('many', ids(2000), id => ({ id }))
  content[1499] = content[1499]?.slice(0, 60) ?? ''
  content[1500] = `${content[1500]} trailing`
  const path = await database.file('many.jsonl', content.join('\n'))
  await assert.rejects(database.import([path]), /many\.jsonl:1500 many: broken JSON/)
  // The documents before it are complete.
  assert.equal(await database.count('many'), '1499')
  const report = await database.import([path], { skipBad: 2 })
  assert.equal(await database.count('many'), '1999')
  const badLines = report.data.bad.map(({ line }) => line)
  assert.deepEqual(badLines, [1500, 1501])
  assert.equal(report.total().read, 2001)
})

test('a truncated file is reported, compressed or not', async t => {
  const database = await openTestDatabase(t)
  const text = `[${lines('cut', ids(1000), id => ({ text: `${id * 7919}` })).join()}]`
  const cut = await database.file('cut.json', text.slice(0, -500))
  await assert.rejects(database.import([cut]), /cut\.json: .*cut off/)
  const packed = gzipSync(text)
  const torn = await database.file('torn.json.gz', packed.subarray(0, packed.length - 100))
  await assert.rejects(database.import([torn]), /torn\.json\.gz cannot be read: .*cut off/)
  const damaged = Buffer.from(packed)
  damaged.fill(0, damaged.length >> 1, (damaged.length >> 1) + 50)
  // Damaged data may decompress to invalid JSON before the checksum is verified.
  const broken = await database.file('damaged.json.gz', damaged)
  await assert.rejects(database.import([broken]), /damaged\.json\.gz.*(damaged|cut off|broken JSON)/)
  const short = lines('line', ids(3), id => ({ id })).join('\n')
  const line = await database.file('line.jsonl', short.slice(0, -20))
  await assert.rejects(database.import([line]), /line\.jsonl:3 .*broken JSON/)
})

test('an export that is incomplete by its own metadata is rejected, unless an option allows it', async t => {
  const folders = 'backup/42/export_419630463817089613/419630463817089700'
  const faults: readonly (readonly [(top: string) => Promise<void>, RegExp])[] = [
    [top => rm(join(top, 'metadata_01.json')), /metadata of part 1 of 2 is missing/],
    [
      top => rm(join(top, 'data/collections/User'), { recursive: true }),
      /part 1 has 2 files, its metadata says 3/,
    ],
    [top => truncate(join(top, 'data/collections/Category/Category_01_000000.json'), 50), /have \d+ bytes/],
  ]
  for (const [spoil, said] of faults) {
    const database = await openTestDatabase(t)
    const copy = join(database.folder, 'copy')
    await cp(join(fixtures, 'tagged'), copy, { recursive: true })
    await spoil(join(copy, folders))
    await assert.rejects(database.import([copy]), said)
    await assert.rejects(database.ask({ exists: { collection: 'Product' } }), /unauthorized/i)
    const isCut = said.source.includes('bytes')
    const outcome = database.import([copy], { allowIncomplete: true })
    if (isCut) await assert.rejects(outcome, /cut off/)
    else assert.match((await outcome).text(), said)
  }
})

test('two documents with one id: the second is a conflict, or it wins', async t => {
  const database = await openTestDatabase(t)
  const content = [...lines('twice', [1, 2], id => ({ id })), ...lines('twice', [1], () => ({ other: true }))]
  const path = await database.file('twice.jsonl', content.join('\n'))
  await assert.rejects(database.import([path]), /twice\.jsonl:3 twice 1: exists with different content/)
  const kept = await database.import([path], { onConflict: 'keep' })
  assert.equal(kept.total().kept, 1)
  assert.equal(await database.data('twice', '1'), '{"id":1}')
  await database.import([path], { onConflict: 'replace' })
  assert.equal(await database.data('twice', '1'), '{"other":true}')
})

test('a document that was changed or deleted here is a conflict', async t => {
  const database = await openTestDatabase(t)
  await database.import(['dumps/array.json'])
  await database.ask({ update: document('things', '301'), params: object({ data: object({ whole: 2 }) }) })
  await database.ask({ delete: document('things', '302') })
  await assert.rejects(database.import(['dumps/array.json']), /things 301: exists with different content/)
  const kept = await database.import(['dumps/array.json'], { onConflict: 'keep' })
  assert.deepEqual([kept.total().kept, kept.total().written], [2, 0])
  assert.equal(await database.ask({ exists: document('things', '302') }), 'false')
  const replaced = await database.import(['dumps/array.json'], { onConflict: 'replace' })
  assert.equal(replaced.total().replaced, 2)
  assert.match(await database.data('things', '301'), /"whole":1,/)
  assert.equal(await database.ask({ exists: document('things', '302') }), 'true')
})

test('a document that is too large does not affect others', async t => {
  const database = await openTestDatabase(t)
  const content = lines('sizes', ids(4), id => ({ text: 'x'.repeat(id === 3 ? 8_400_000 : 4_000_000) }))
  const path = await database.file('sizes.jsonl', content.join('\n'))
  await assert.rejects(database.import([path]), /sizes\.jsonl:3 sizes 3: too large/)
  const report = await database.import([path], { skipBad: 1 })
  assert.equal(report.total().bad, 1)
  assert.equal(await database.count('sizes'), '3')
})

test('a document rejected by a unique index is reported with the conflicting document', async t => {
  const database = await openTestDatabase(t)
  const email = (id: number) => (id === 2 ? '2@x' : 'one@x')
  const content = lines('accounts', ids(3), id => ({ email: email(id), other: 'one@x' }))
  const path = await database.file('accounts.jsonl', content.join('\n'))
  const words = [join(fixtures, 'language/fauna'), path]
  await assert.rejects(
    database.import(words),
    /accounts\.jsonl:3 accounts 3: the unique index accounts_by_email already contains the values, from accounts 1/,
  )
  const report = await database.import(words, { skipBad: 1 })
  assert.equal(report.total().bad, 1)
  assert.equal(await database.count('accounts'), '2')
})

test('invalid records are reported', async t => {
  const database = await openTestDatabase(t)
  const good = lines('odd', [1], () => ({}))
  const bad = [
    '{"ts":1,"data":{}}',
    '{"ref":{"@ref":{"id":"x","collection":{"@ref":{"id":"odd","collection":{"@ref":{"id":"collections"}}}}}},"ts":1}',
    '{"ref":{"@ref":{"id":"2","collection":{"@ref":{"id":"odd","collection":{"@ref":{"id":"collections"}}}}}},"data":{"t":{"@ts":"yesterday"}}}',
    '7',
    '"text"',
    '"a text without an end',
    '{"ref":{"@ref":7}}',
    '{"ref":{"@ref":{"id":"3","collection":{"@ref":{"id":"odd","collection":{"@ref":{"id":"collections"}}}}}},"data":[]}',
  ]
  const path = await database.file('odd.jsonl', [...good, ...bad].join('\n'))
  const report = await database.import([path], { skipBad: 100 })
  assert.equal(report.total().bad, bad.length)
  const badLines = report.data.bad.map(({ line }) => line)
  const expected = bad.map((_, at) => at + 2)
  assert.deepEqual(badLines, expected)
  for (const { reason } of report.data.bad) assert.ok(reason.length > 8, reason)
})

test('expired documents are left out; references into other databases are reported', async t => {
  const database = await openTestDatabase(t)
  const scoped = {
    '@ref': {
      id: '1',
      collection: {
        '@ref': {
          id: 'x',
          collection: { '@ref': { id: 'collections' } },
          database: { '@ref': { id: 'other', collection: { '@ref': { id: 'databases' } } } },
        },
      },
    },
  }
  const content = [
    JSON.stringify({ ref: document('old', '1'), ts: 1, ttl: { '@ts': '2001-01-01T00:00:00Z' }, data: {} }),
    JSON.stringify({ ref: document('old', '2'), ts: 1, data: { scoped } }),
  ]
  const report = await database.import([await database.file('old.jsonl', content.join('\n'))])
  assert.equal(report.total().expired, 1)
  assert.equal(Object.keys(report.data.lost).length, 1)
  assert.equal(await database.data('old', '2'), '{"scoped":{"id":"1","collection":"x"}}')
})

test('a file that grew is imported to its end', async t => {
  const database = await openTestDatabase(t)
  const content = lines('growing', [1, 2], id => ({ id }))
  const path = await database.file('growing.jsonl', `${content.join('\n')}\n`)
  await database.import([path])
  await appendFile(path, lines('growing', [3], id => ({ id })).join('\n'))
  const report = await database.import([path])
  assert.deepEqual([report.total().equal, report.total().written], [2, 1])
  assert.ok((await readFile(path)).length > 0)
})

test('large batches are written in parts', async t => {
  const database = await openTestDatabase(t)
  // There are few documents, and their index entries exceed the size of one transaction.
  await database.import(['language/fauna'])
  const index = {
    name: 'accounts_by_words',
    source: { collection: 'accounts' },
    terms: [object({ field: ['data', 'words'] })],
    values: [object({ field: ['data', 'long'] })],
  }
  await database.ask({ create_index: object(index) })
  const words = Array.from({ length: 20 }, (_, at) => `word ${at}`)
  const content = lines('accounts', ids(200), id => ({
    email: `${id}`,
    words,
    long: `${id}`.padEnd(1000, 'x'),
  }))
  const report = await database.import([await database.file('accounts.jsonl', content.join('\n'))])
  assert.equal(report.total().written, 200)
  assert.equal(
    await database.ask({ count: { match: { index: 'accounts_by_words' }, terms: 'word 7' } }),
    '200',
  )
})
