// Data that is moved stays the same. A database that is restored from a continuous backup as of a time is the database
// at this time. A value that one language reads and writes is the same value for the other language. Exports and
// interrupted imports have the laws in tests/transfer/round-trip.test.ts and tests/transfer/resumed.test.ts.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { planRestore } from '../../src/backup/catalogue.ts'
import { openTarget } from '../../src/backup/open-target.ts'
import { restoreInto } from '../../src/backup/restore.ts'
import { readStatus } from '../../src/backup/status-file.ts'
import { micros } from '../../src/base/micros.ts'
import { eventually } from '../support/eventually.ts'
import { fc } from '../support/fast-check.ts'
import { folderOfFile } from '../support/folder.ts'
import { temporaryFolder } from '../support/program.ts'
import { serverOfFile, startServer } from '../support/server.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { assertSound } from '../support/sound.ts'
import { texts } from '../support/value-arbitraries.ts'
import { changes, createItems, items, statementOf, stateText } from './generators/items.ts'
import { values10 } from './generators/values10.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()
const backedUp = serviceOfFile(() =>
  startProcess({ flags: ['--backup-to', join(folder, 'backup'), ...withoutSlowLane] }),
)
const folder = folderOfFile()

interface Moment {
  readonly time: number
  readonly state: unknown
}

/** Resolves when the backup can restore each time from the first base copy until `time`. */
function untilRestorable(time: number): Promise<void> {
  return eventually('the backup can restore the time', () => {
    const { newest_restorable: newest = null, oldest_restorable: oldest = null } =
      readStatus(backedUp.data) ?? {}
    return oldest !== null && newest !== null && newest >= time
  })
}

/** Restores the backup as of a time, and reads the state of the database. */
async function restoredState({ time }: Moment, database: LawDatabase): Promise<unknown> {
  const data = await temporaryFolder()
  try {
    const target = await openTarget(join(folder, 'backup'))
    await restoreInto(target, await planRestore(target, micros(time)), data)
    const restored = await startServer({ data })
    try {
      return await database.on(restored).run10(stateText)
    } finally {
      await restored.stop()
      await assertSound(data)
    }
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

law('a backup that is restored as of a time has the state of this time', () => backedUp, {
  input: fc.record({
    given: items,
    later: changes,
    places: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
  }),
  runs: 3,
  async holds(database, { given, later, places }) {
    // Times before the first base copy cannot be restored.
    await untilRestorable(0)
    await createItems(database, given)
    const moments: Moment[] = []
    for (const change of [undefined, ...later]) {
      if (change !== undefined) await database.run10(statementOf(change))
      const { time, value } = await database.ask10(stateText)
      moments.push({ time, state: value })
    }
    await untilRestorable((moments.at(-1) as Moment).time)
    for (const place of places) {
      const moment = moments[place % moments.length] as Moment
      assert.deepEqual(await restoredState(moment, database), moment.state, `at ${moment.time}`)
    }
  },
})

const strings = texts.filter(text => text.isWellFormed())
const data4 = (id: string) => ({ select: ['data'], from: { get: { ref: { collection: 'C' }, id } } })

law('a value that the other language has read and written is the same value', () => server, {
  // Version 4 removes nulls from arrays.
  input: values10(strings, strings).filter(value => !JSON.stringify(value).includes('null')),
  runs: 30,
  async holds(database, given) {
    await database.run10('Collection.create({ name: "C" })')
    await database.runGiven('C.create({ id: 1, v: [given] })', given)
    const written = await database.run10('C.byId("1")!.v')
    const read4 = await database.run4(data4('1'))
    // Version 4 writes what it reads.
    await database.run4({
      create: { ref: { collection: 'C' }, id: '2' },
      params: { object: { data: data4('1') } },
    })
    assert.deepEqual(await database.run10('C.byId("2")!.v'), written)
    // Version 10 writes what it has read, from an argument.
    await database.runGiven('C.create({ id: 3, v: given })', written)
    assert.deepEqual(await database.run4(data4('3')), read4)
  },
})
