// Backups of a service that imports, builds and removes indexes, deletes and migrates at the same time. Each backup is
// restored and checked. This file is slow because it starts two processes for each backup.

import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, sendFql } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { roundsToRun } from '../support/seeded.ts'
import { startServer } from '../support/server.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const backups = roundsToRun(10, 200)
/** Documents of an import. Their rows fill more pages than LMDB can replace in one transaction on a new copy. */
const imported = 1000

const folder = folderOfFile()

type IsOver = () => boolean

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

/** Replaces the documents of the collection by imports, and deletes a part of them between two imports. */
async function importAndDelete(server: ServerProcess, isOver: IsOver): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const file = join(folder, 'items.jsonl')
    const lines = Array.from({ length: imported }, (_, n) =>
      JSON.stringify({
        id: String(n + 1),
        coll: 'items',
        n,
        round,
        tag: `tag ${n % 40}`,
        text: 'x'.repeat(800),
      }),
    )
    await writeFile(file, lines.join('\n'))
    const { status, stderr, stdout } = await runProgram(
      ['import', file, '--url', server.url, '--on-conflict', 'replace'],
      { TERRARIUM_SECRET: server.rootSecret },
    )
    assert.equal(status, 0, stdout + stderr)
    for (let tag = 0; tag < 10 && !isOver(); tag++)
      await run(server, `items.byTag("tag ${(tag + round) % 40}").forEach(item => item.delete())`)
  }
}

async function buildIndexes(server: ServerProcess, isOver: IsOver): Promise<void> {
  while (!isOver()) {
    const added = `{ built: { terms: [{ field: ".tag" }], values: [{ field: ".round" }, { field: ".n" }] } }`
    await run(server, `items.definition.update({ indexes: ${added} })`)
    await eventually('the index is built or the test is over', async () => {
      const { data } = await run(server, 'items.definition.indexes.built.queryable')
      return data === true || isOver()
    })
    await run(server, 'items.definition.update({ indexes: { built: null } })')
  }
}

/** Adds and removes a field of all documents in turns. */
async function migrate(server: ServerProcess, isOver: IsOver): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const isAdded = round % 2 === 0
    const fields = isAdded ? '{ extra: { signature: "Int", default: "1" } }' : '{ extra: null }'
    const step = isAdded ? '{ add: { field: ".extra" } }' : '{ drop: { field: ".extra" } }'
    await run(server, `people.definition.update({ fields: ${fields}, migrations: [${step}] })`)
    await run(server, 'people.all().forEach(person => person.update({ n: person.n + 1 }))')
  }
}

/** Adds the acknowledged marks to `marks`, with the times of their transactions. */
async function addMarks(server: ServerProcess, marks: Map<number, number>, isOver: IsOver): Promise<void> {
  for (let number = 0; !isOver(); number++) {
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

/** Restores a backup and checks it: it is sound, and contains exactly the marks up to its time. */
async function checkBackup(backup: string, time: number, marks: ReadonlyMap<number, number>): Promise<void> {
  const data = join(folder, 'restored')
  const restored = await runProgram(['restore', backup, '--data', data])
  assert.equal(restored.status, 0, restored.stderr)
  // The check runs in a process of its own. In this process, it would delay the requests to the busy service until their
  // connections expire.
  const checked = await runProgram(['check', '--data', data])
  assert.equal(checked.status, 0, checked.stdout + checked.stderr)
  const server = await startServer({ data })
  try {
    const found = (await fql(server, server.rootSecret, 'marks.all().map(.n).toArray().order()')) as number[]
    await eventually('all marks of the backup are acknowledged', () => found.every(mark => marks.has(mark)))
    const expected = [...marks].filter(([, committed]) => committed <= time).map(([mark]) => mark)
    assert.deepEqual(found, expected)
  } finally {
    await server.stop()
  }
  await rm(data, { recursive: true })
}

test('every backup of a busy service can be restored and is sound', async () => {
  const data = join(folder, 'data')
  const copies = join(folder, 'copies')
  await mkdir(copies)
  const server = await startProcess({ data, flags: withoutSlowLane })
  let isOver = false
  try {
    await prepare(server)
    const marks = new Map<number, number>()
    const work = [
      importAndDelete(server, () => isOver),
      buildIndexes(server, () => isOver),
      migrate(server, () => isOver),
      addMarks(server, marks, () => isOver),
    ]
    const backUpRepeatedly = async () => {
      for (let number = 0; number < backups; number++) {
        const backup = join(copies, String(number))
        const { status, stderr, stdout } = await runProgram(['backup', backup, '--data', data])
        assert.equal(status, 0, `backup ${number}: ${stderr}`)
        await checkBackup(backup, Number(/transaction time (\d+)/.exec(stdout)?.[1]), marks)
        assert.deepEqual(await readdir(copies), [String(number)])
        await rm(backup, { recursive: true })
      }
      isOver = true
    }
    await Promise.all([backUpRepeatedly(), ...work])
  } finally {
    isOver = true
    await server.stop()
  }
  await assertSound(data)
})
