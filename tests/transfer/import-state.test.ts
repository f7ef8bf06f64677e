// The progress of an import on disk: files that a power failure has shortened.

import assert from 'node:assert/strict'
import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ImportState } from '../../src/transfer/import-state.ts'
import { fileStart } from '../../src/transfer/read-file.ts'
import type { ReportData } from '../../src/transfer/report.ts'
import type { SourceFile } from '../../src/transfer/sources.ts'
import { folderOfFile } from '../support/folder.ts'

const folder = folderOfFile()

const file = { path: 'cats.json', bytes: 10, modifiedMs: 1 } as SourceFile
const report = {} as ReportData
const reference = (id: string) => ({ database: [], from: '1', collection: 'cats', id, place: 'data.owner' })
const idsOf = (state: ImportState) => [...state.references()].flat().map(({ id }) => id)

test('if the file of references is shorter than its saved length, the import starts from the beginning', async () => {
  const first = new ImportState(folder, 'an import', false)
  first.addReference(reference('1'))
  first.addReference(reference('2'))
  first.save(file, fileStart, true, report)
  first.release()
  const references = readdirSync(folder).find(name => name.endsWith('.references')) as string

  const whole = new ImportState(folder, 'an import', true)
  assert.equal(whole.placeOf(file), undefined, 'the file is already imported')
  assert.deepEqual(idsOf(whole), ['1', '2'])
  whole.release()

  truncateSync(join(folder, references), 20)
  const damaged = new ImportState(folder, 'an import', true)
  assert.equal(damaged.placeOf(file), fileStart)
  damaged.addReference(reference('3'))
  damaged.save(file, fileStart, true, report)
  assert.deepEqual(idsOf(damaged), ['3'])
  damaged.release()
})
