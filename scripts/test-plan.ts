// Selects the test files of a suite, and groups files that share a process.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Named like the commands that run tests. */
export type Suite = 'test' | 'faults' | 'soak'

/** A process of a test run loads these files (tests/support/batch.ts). */
export type Batch = readonly string[]

/** Tests of killed processes, nodes, disks and package installs, and of conformance in the slow lane. */
const faultTests = [
  'tests/conformance/slow-lane',
  'tests/crash/',
  'tests/nodes/',
  'tests/package/',
  'tests/workers/crash',
  'tests/kv/postgres-',
  'tests/hostile/descriptors',
]

/**
 * These files change or measure their process, or encode many long texts, which takes up to a hundred times as long in a
 * process that has run certain property tests.
 */
const ownProcess = [
  'tests/bench/',
  'tests/conformance/',
  'tests/crash/',
  'tests/dependencies/',
  'tests/docs/',
  'tests/kv/',
  'tests/nodes/',
  'tests/package/',
  'tests/slow-lane/memory',
  'tests/unit/storage/store/binding-pauses',
  'tests/unit/storage/store/large-',
  'tests/workers/',
]

/**
 * The longest files start first, so that no core is idle while the last process runs. A folder that is spread over
 * several processes deals its files in this order.
 */
const longest = [
  'tests/conformance/',
  'tests/dashboard/rows',
  'tests/dashboard/accessibility',
  'tests/dashboard/any-size',
  'tests/dashboard/every-page',
  'tests/dashboard/documents',
  'tests/dashboard/access.',
  'tests/dashboard/unsaved',
  'tests/dashboard/shell10',
  'tests/dashboard/resilience',
  'tests/dashboard/two-writers',
  'tests/dashboard/schema-files',
  'tests/dashboard/health',
  'tests/dashboard/logs',
  'tests/dashboard/import',
  'tests/dashboard/collections',
  'tests/dashboard/',
  'tests/nodes/',
  'tests/crash/',
  'tests/docs/examples',
  'tests/slow-lane/',
  'tests/hostile/',
  'tests/workers/commits',
  'tests/cli/',
  'tests/transfer/',
  'tests/http/',
  'tests/fauna-shell/',
]

/**
 * Files of these folders are spread over one process per core: a single process with all of them would be the last to
 * finish.
 */
const spread = ['tests/unit/', 'tests/dashboard/']

const isIn = (file: string, list: readonly string[]) => list.some(start => file.startsWith(start))

/** Runs different seeds in each suite (tests/support/seeded.ts). */
const takesSeeds = /\bseedsToRun\(/
/** Runs more or different cases in a soak. */
const soaks = /\broundsToRun\(|\/support\/fast-check\.ts'|\.\/law\.ts'/

export function belongsTo(suite: Suite, file: string): boolean {
  const source = readFileSync(file, 'utf8')
  if (takesSeeds.test(source)) return true
  if (suite === 'soak') return soaks.test(source)
  return isIn(file, faultTests) === (suite === 'faults')
}

/** The longest batches first. */
export function planOf(files: readonly string[], cores: number): readonly Batch[] {
  const ordered = [...files].sort((a, b) => placeOf(a) - placeOf(b))
  const alone = ordered.filter(file => isIn(file, ownProcess)).map(file => [file])
  const groups = new Map<string, string[]>()
  const dealt = new Map<string, number>()
  for (const file of ordered) {
    if (isIn(file, ownProcess)) continue
    const folder = spread.find(start => file.startsWith(start))
    const count = folder === undefined ? 0 : (dealt.get(folder) ?? 0)
    if (folder !== undefined) dealt.set(folder, count + 1)
    const group = folder === undefined ? dirname(file) : `${folder} ${count % cores}`
    groups.set(group, [...(groups.get(group) ?? []), file])
  }
  return [...groups.values(), ...alone].sort((a, b) => placeOf(a[0] ?? '') - placeOf(b[0] ?? ''))
}

/** Returns the place of a file in {@link longest}, or after the last one. */
function placeOf(file: string): number {
  const place = longest.findIndex(start => file.startsWith(start))
  return place < 0 ? longest.length : place
}
