// The same query gives the same answer in the slow lane, with several workers, and after a restart as in a single process.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { fc } from '../support/fast-check.ts'
import { temporaryFolder } from '../support/program.ts'
import { type RunningServer, serverOfFile, startServer } from '../support/server.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { assertSound } from '../support/sound.ts'
import { changes, createItems, items, statementOf, stateText } from './generators/items.ts'
import { createIndexes4, sets4 } from './generators/sets4.ts'
import { documentSets, projections } from './generators/sets10.ts'
import { LawDatabase, law } from './law.ts'

const server = serverOfFile()
const others = {
  'in the slow lane': serviceOfFile(() => startProcess({ flags: ['--slow-lane-after-ms', '0'] })),
  'with two workers': serviceOfFile(() => startProcess({ flags: ['--workers', '2', ...withoutSlowLane] })),
}

/** The state without times and without the documents that got random ids. */
const comparable = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state, (name, value) => (name === 'ts' ? undefined : value)))

const cases = fc.record({
  given: items,
  set: documentSets,
  set4: sets4,
  project: projections,
  // Without creates: their ids are random.
  writes: changes.map(all => all.filter(({ kind }) => kind !== 'create')),
})

for (const [where, other] of Object.entries(others)) {
  law(`queries and writes have the same results ${where} as in one process`, () => server, {
    input: cases,
    runs: 8,
    async holds(database, { given, project, set, set4, writes }) {
      const twin = await LawDatabase.create(other)
      try {
        const text = `(${project.replace('SET', set)}).toArray()`
        const page = { paginate: set4, size: 1000 }
        const results: unknown[] = []
        for (const each of [database, twin]) {
          await createItems(each, given)
          await createIndexes4(each)
          const before = [await each.run10(text), await each.run4(page)]
          for (const write of writes) await each.run10(statementOf(write))
          const after = [await each.run10(text), await each.run4(page)]
          results.push([before, after, comparable(await each.run10(stateText))])
        }
        assert.deepEqual(results[1], results[0], twin.transcript())
      } finally {
        await twin.close()
      }
    },
  })
}

/** A service that can be restarted within this process. */
async function startRestartable(): Promise<RunningServer & { restart(): Promise<void> }> {
  const data = await temporaryFolder()
  let running = await startServer({ data })
  const stop = async () => {
    await running.stop()
    await assertSound(data)
    await rm(data, { recursive: true, force: true })
  }
  return {
    get url() {
      return running.url
    },
    rootSecret: running.rootSecret,
    data,
    stderr: () => running.stderr(),
    async restart() {
      await running.stop()
      running = await startServer({ data })
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const restartable = serviceOfFile(startRestartable)

law('queries have the same results after a restart, now and in the past', () => restartable, {
  input: cases,
  runs: 8,
  async holds(database, { given, project, set, set4, writes }) {
    await createItems(database, given)
    await createIndexes4(database)
    const { time } = await database.ask10('null')
    for (const write of writes) await database.run10(statementOf(write))
    const texts = [`(${project.replace('SET', set)}).toArray()`, stateText]
    const page = { paginate: set4, size: 1000 }
    const read = async () => [
      ...(await Promise.all(texts.map(text => database.run10(text)))),
      ...(await Promise.all(
        texts.map(text => database.run10(`at (Time.epoch(${time}, "microseconds")) { ${text} }`)),
      )),
      await database.run4(page),
      await database.run4({ at: { epoch: time, unit: 'microseconds' }, expr: page }),
    ]
    const before = await read()
    await restartable.restart()
    assert.deepEqual(await read(), before)
  },
})
