// Selects the test files of a suite, and groups files that share a process.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The commands that run tests: `npm test`, `npm run test:faults`, `npm run test:soak`. */
export type Suite = 'test' | 'faults' | 'soak'

/** A process of a test run. */
export interface TestProcess {
  readonly files: readonly string[]
  /** tests/support/batch.ts loads the files. Otherwise there is one file, which is run directly. */
  readonly isBatch: boolean
}

/** Folders and files of `npm run test:faults`: killed processes, nodes, disks, package installs, conformance in the slow lane. */
const faultTests = [
  'tests/conformance/slow-lane',
  'tests/crash/',
  'tests/nodes/',
  'tests/package/',
  'tests/workers/crash',
  'tests/kv/postgres-',
  'tests/hostile/descriptors',
]

/** Test files that need a process of their own, because they change or measure it. */
const ownProcess = [
  'tests/bench/',
  'tests/conformance/',
  'tests/crash/',
  'tests/dependencies/',
  'tests/docs/',
  'tests/hostile/',
  'tests/kv/',
  'tests/metrics/',
  'tests/nodes/',
  'tests/package/',
  'tests/simulation/',
  'tests/slow-lane/',
  'tests/tidy/',
  'tests/unit/base/',
  'tests/unit/operation/',
  'tests/unit/store/binding-share',
  'tests/workers/',
  'tests/client/',
]

/** The longest files start first, so that no core is idle while the last process runs. */
const longest = ['tests/conformance/', 'tests/dashboard/', 'tests/nodes/', 'tests/crash/', 'tests/transfer/']

const isIn = (file: string, list: readonly string[]) => list.some(start => file.startsWith(start))

/** A file with this call runs other seeds in each suite (tests/support/seeded.ts). */
const takesSeeds = /\bseedsToRun\(/
/** A file with one of these does more, or something else, in a soak. */
const soaks = /\broundsToRun\(|\/support\/fast-check\.ts'/

/** True if the suite runs the file at this path. */
export function belongsTo(suite: Suite, file: string): boolean {
  const source = readFileSync(file, 'utf8')
  if (takesSeeds.test(source)) return true
  if (suite === 'soak') return soaks.test(source)
  return isIn(file, faultTests) === (suite === 'faults')
}

/** The processes that run `files`, the longest first. Pure unit tests are spread over `cores`. */
export function planOf(files: readonly string[], cores: number): readonly TestProcess[] {
  const alone = files.filter(file => isIn(file, ownProcess)).map(file => ({ files: [file], isBatch: false }))
  const groups = new Map<string, string[]>()
  let unitFiles = 0
  for (const file of files) {
    if (isIn(file, ownProcess)) continue
    const isUnit = file.startsWith('tests/unit/')
    const group = isUnit ? `tests/unit ${unitFiles++ % cores}` : dirname(file)
    groups.set(group, [...(groups.get(group) ?? []), file])
  }
  const batches = [...groups.values()].map(group => ({ files: group, isBatch: true }))
  return [...batches, ...alone].sort((a, b) => placeOf(a) - placeOf(b))
}

/** The position of a process in {@link longest}, or after it. */
function placeOf({ files: [first = ''] }: TestProcess): number {
  const place = longest.findIndex(start => first.startsWith(start))
  return place < 0 ? longest.length : place
}
