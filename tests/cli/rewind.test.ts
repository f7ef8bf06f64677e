// `terrarium rewind` and `terrarium export --at`: the documents of a collection at a past time, against a running
// server.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsOn } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, runText } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()

const { outputOf, run } = commandsOn(server)

const query10 = (text: string) => fql(server, server.rootSecret, text)

/** A time in microseconds after all previous commits and before all later ones. */
async function moment(): Promise<string> {
  return String(await runText(server, server.rootSecret, 'ToMicros(Now())'))
}

const rewind = (collection: string, at: string, ...more: string[]) =>
  run('rewind', '--collection', collection, '--at', at, ...more)

/** The ids and values of all documents. */
const contents = (name: string) => query10(`${name}.all().map(d => [d.id.toString(), d.n]).toArray()`)

test('deleted documents are restored with their ids, changed ones get their old data, new ones are deleted', async () => {
  await query10(`Collection.create({
    name: "Items", history_days: 3, fields: { n: { signature: "Int?" } }, wildcard: "Any", constraints: [{ unique: ["n"] }]
  })`)
  await query10('Set.sequence(1, 8).forEach(n => Items.create({ id: n, n: n, deep: { a: [n, null] } }))')
  const before = await contents('Items')
  const at = await moment()
  await query10('Items.byId("1")!.delete()')
  await query10('Items.byId("2")!.update({ n: 200, deep: { b: 1 } })')
  // New documents have unique values of deleted ones.
  await query10('Items.create({ id: 90, n: 1 }); Items.create({ id: 91, n: 2 })')
  const dry = await rewind('Items', at, '--dry-run', '--batch', '3')
  assert.equal(dry.stdout, 'would delete 2, create 1 and replace 1 documents; 5 unchanged\n', dry.stderr)
  assert.deepEqual(await query10('Items.byId("91")!.n'), 2, 'a dry run writes nothing')
  const done = await rewind('Items', at, '--batch', '3', '--json')
  assert.deepEqual(JSON.parse(done.stdout), { deleted: 2, created: 1, replaced: 1, kept: 5, expired: 0 })
  assert.deepEqual(await contents('Items'), before)
  assert.deepEqual(await query10('Items.byId("2")!.deep'), { a: [2, null] }, 'values of version 10 stay')
  const again = await rewind('Items', at)
  assert.equal(again.stdout, 'deleted 0, created 0 and replaced 0 documents; 7 unchanged\n')
})

test('documents without data, with a ttl and with references are compared and restored', async () => {
  const run4 = (text: string) => runText(server, server.rootSecret, text)
  const ref = (id: string) => `Ref(Collection("plain"), "${id}")`
  await run4('CreateCollection({ name: "plain" })')
  await run4(`Create(${ref('1')}, {})`)
  await run4(`Create(${ref('2')}, { ttl: Time("2100-01-01T00:00:00Z"), data: { to: ${ref('1')} } })`)
  const brief = await run4(`Create(${ref('3')}, { ttl: TimeAdd(Now(), 50, "milliseconds") })`)
  const at = String((brief as { readonly ts: number }).ts)
  await run4(`Update(${ref('2')}, { ttl: null })`)
  for (;;) if ((await run4(`Exists(${ref('3')})`)) === false) break
  const { stdout } = await rewind('plain', at)
  // The history of an expired document may already be removed.
  assert.match(stdout, /^deleted 0, created 0 and replaced 1 documents; 1 unchanged(; 1 have expired .*)?\n$/)
  assert.equal(await run4(`Exists(${ref('3')})`), false)
  assert.deepEqual(await run4(`Select("ttl", Get(${ref('2')}))`), { '@ts': '2100-01-01T00:00:00Z' })
})

test('a time before the history is rejected with the earliest possible time', async () => {
  await query10('Collection.create({ name: "Short" }); null')
  const hourAgo = String(Number(await moment()) - 3_600_000_000)
  const { status, stderr } = await rewind('Short', hourAgo)
  assert.equal(status, 1)
  const earliest = /does not reach that far: the earliest possible time is (\S+)\n$/.exec(stderr)?.[1]
  assert.ok(earliest !== undefined && Date.parse(earliest) > Number(hourAgo) / 1000, stderr)
  const exported = await run('export', join(folder, 'short'), '--collection', 'Short', '--at', hourAgo)
  assert.equal(exported.status, 1)
  assert.match(exported.stderr, /Short cannot be read .*minimum allowed timestamp 20/)
})

test('unknown collections, times in the future and failing batches are reported', async () => {
  assert.match((await rewind('None', '5')).stderr, /there is no collection None/)
  assert.match((await rewind('Items', '2200-01-01T00:00:00Z')).stderr, /is in the future/)
  assert.equal((await run('rewind', '--collection', 'Items')).status, 2)
  assert.equal((await rewind('Items', 'yesterday')).status, 2)
  const before = await moment()
  await query10('Collection.create({ name: "Later", history_days: 30 }); null')
  assert.match((await rewind('Later', before)).stderr, /the collection Later did not exist at/)
  await query10('Collection.create({ name: "Typed", history_days: 1, wildcard: "Any" }); null')
  await query10('Typed.create({ id: 1, n: "text" })')
  const at = await moment()
  await query10('Typed.byId("1")!.delete()')
  await query10(
    'Collection.byName("Typed")!.update({ constraints: [{ check: { name: "isGone", body: "d => d.n != \\"text\\"" } }] })',
  )
  const { status, stderr } = await rewind('Typed', at)
  assert.equal(status, 1)
  assert.match(stderr, /isGone[\s\S]*partly rewound\. Rewind again to continue\./)
})

test('an export of a past time contains the documents of that time, only of the named collections', async () => {
  await query10('Collection.create({ name: "Past", history_days: 1 }); null')
  await query10('Past.create({ id: 1, n: 1 }); Past.create({ id: 2, n: 2 })')
  const at = await moment()
  await query10('Past.byId("1")!.update({ n: 100 }); Past.byId("2")!.delete()')
  const place = join(folder, 'past')
  const words = ['--collection', 'Past', '--at', at, '--format', 'simple']
  assert.match(await outputOf('export', place, ...words), /^exported 2 documents of 1 database as of 20/)
  assert.deepEqual((await readdir(place)).sort(), ['data', 'metadata_00.json'])
  const data = join(place, 'data/collections/Past')
  const [file = ''] = await readdir(data)
  const lines = (await readFile(join(data, file), 'utf8')).trimEnd().split('\n')
  assert.deepEqual(
    lines.map(line => (JSON.parse(line) as { readonly n: number }).n),
    [1, 2],
  )
  const { collections } = JSON.parse(await readFile(join(place, 'metadata_00.json'), 'utf8'))
  assert.deepEqual(collections, ['Past'])
  const unknown = await run('export', join(folder, 'none'), '--collection', 'None')
  assert.match(unknown.stderr, /there is no collection None/)
  const later = await run('export', join(folder, 'later'), '--at', '2200-01-01T00:00:00Z')
  assert.match(later.stderr, /is in the future/)
})
