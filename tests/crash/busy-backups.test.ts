// Backups of a service that imports, builds and removes indexes, deletes and migrates at the same time. Each backup is
// restored and checked. This file is slow because it starts three processes for each backup.

import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, sendFql } from '../support/http.ts'
import { outputOf } from '../support/program.ts'
import { roundsToRun } from '../support/seeded.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const backups = roundsToRun(10, 200)
/** Documents of an import. Their rows fill more pages than LMDB can replace in one transaction on a new copy. */
const imported = 1000
const marksPerBackup = 100

const folder = folderOfFile()

/** Runs a query of version 10 until it is committed. Concurrent writes may reject a query several times. */
async function run(server: ServerProcess, text: string): Promise<{ data: unknown; time: number }> {
  for (;;) {
    const { json, status, text: answer } = await sendFql(server, server.rootSecret, text)
    if (status === 409) continue
    assert.equal(status, 200, answer)
    const { data, txn_ts: time } = json as { data: unknown; txn_ts: number }
    return { data, time }
  }
}

/** Replaces the documents of the collection by an import, and deletes a part of them. */
async function importAndDelete(server: ServerProcess, round: number): Promise<void> {
  const file = join(folder, 'items.jsonl')
  const lines = Array.from({ length: imported }, (_, n) =>
    JSON.stringify({ id: `${n + 1}`, coll: 'items', n, round, tag: `tag ${n % 40}`, text: 'x'.repeat(800) }),
  )
  await writeFile(file, lines.join('\n'))
  const env = { TERRARIUM_SECRET: server.rootSecret }
  await outputOf(['import', file, '--url', server.url, '--on-conflict', 'replace'], env)
  for (let tag = 0; tag < 10; tag++)
    await run(server, `items.byTag("tag ${(tag + round) % 40}").forEach(item => item.delete())`)
}

async function buildIndex(server: ServerProcess): Promise<void> {
  const added = `{ built: { terms: [{ field: ".tag" }], values: [{ field: ".round" }, { field: ".n" }] } }`
  await run(server, `items.definition.update({ indexes: ${added} })`)
  await eventually('the index is built', async () => {
    const { data } = await run(server, 'items.definition.indexes.built.queryable')
    return data === true
  })
  await run(server, 'items.definition.update({ indexes: { built: null } })')
}

/** Adds or removes a field of all documents. */
async function migrate(server: ServerProcess, round: number): Promise<void> {
  const isAdded = round % 2 === 0
  const fields = isAdded ? '{ extra: { signature: "Int", default: "1" } }' : '{ extra: null }'
  const step = isAdded ? '{ add: { field: ".extra" } }' : '{ drop: { field: ".extra" } }'
  await run(server, `people.definition.update({ fields: ${fields}, migrations: [${step}] })`)
  await run(server, 'people.all().forEach(person => person.update({ n: person.n + 1 }))')
}

/** Adds acknowledged marks to `marks`, with the times of their transactions. */
async function addMarks(server: ServerProcess, marks: Map<number, number>): Promise<void> {
  for (let added = 0; added < marksPerBackup; added++) {
    const number = marks.size
    const { time } = await run(server, `marks.create({ n: ${number} }).n`)
    marks.set(number, time)
  }
}

async function prepare(server: ServerProcess): Promise<void> {
  const indexes = '{ byTag: { terms: [{ field: ".tag" }] }, byN: { values: [{ field: ".n" }] } }'
  await run(server, `Collection.create({ name: "items", history_days: 0, indexes: ${indexes} })`)
  await run(server, 'Collection.create({ name: "people", fields: { n: { signature: "Int" } } })')
  await run(server, 'Set.sequence(0, 300).forEach(n => people.create({ n: n }))')
  await run(server, 'Collection.create({ name: "marks" })')
}

/** Returns the numbers of all marks, in order. An array of a soak's marks would be too long for one query. */
async function allMarks(server: RunningServer): Promise<number[]> {
  const found: number[] = []
  let text = 'marks.all().map(.n).pageSize(250)'
  for (;;) {
    const page = (await fql(server, server.rootSecret, text)) as { data: number[]; after?: string }
    found.push(...page.data)
    if (page.after === undefined) return found.sort((one, other) => one - other)
    text = `Set.paginate("${page.after}")`
  }
}

/** Restores a backup and checks it: it is sound, and contains exactly the marks up to its time. */
async function checkBackup(backup: string, time: number, marks: ReadonlyMap<number, number>): Promise<void> {
  const data = join(folder, 'restored')
  await outputOf(['restore', backup, '--data', data])
  const expected = [...marks].filter(([, committed]) => committed <= time).map(([mark]) => mark)
  {
    await using server = await startServer({ data })
    assert.deepEqual(await allMarks(server), expected)
  }
  await assertSound(data)
  await rm(data, { recursive: true })
}

test('every backup of a busy service can be restored and is sound', async () => {
  const data = join(folder, 'data')
  const copies = join(folder, 'copies')
  await mkdir(copies)
  await using server = await startProcess({ data, flags: withoutSlowLane })
  const marks = new Map<number, number>()
  await prepare(server)
  for (let number = 0; number < backups; number++) {
    const backup = join(copies, String(number))
    // Each round does a fixed amount of work, so that the data does not grow with the duration of a backup.
    const [report] = await Promise.all([
      outputOf(['backup', backup, '--data', data]),
      importAndDelete(server, number),
      buildIndex(server),
      migrate(server, number),
      addMarks(server, marks),
    ])
    await checkBackup(backup, Number(/transaction time (\d+)/.exec(report)?.[1]), marks)
    assert.deepEqual(await readdir(copies), [String(number)])
    await rm(backup, { recursive: true })
  }
  await server.stop()
  await assertSound(data)
})
