// Plays the conformance cases against a server, and compares the results with the list of expected failures. The list
// documents unfinished work, and may only shrink.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { patience } from '../support/patience.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { startProcess } from '../support/server-process.ts'

/** The result of a case in the runner's report. */
export interface CaseResult {
  readonly id: string
  readonly file: string
  readonly passed: boolean
  /** The failed step of a failed case, and the reason. */
  readonly step?: number | string
  readonly complaint?: string
  /** The errors in the last response of a failed case, if it rejected a query or a schema. */
  readonly refusal?: readonly string[]
}

/** The differences between the results and the list. Both are empty if they match. */
export interface Difference {
  readonly newFailures: readonly CaseResult[]
  readonly nowPassing: readonly string[]
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const runner = pathOf('run.mjs')
const graphqlRunner = pathOf('run-graphql.mjs')
/** The shared cases of version 4, our own cases, the cases of version 10, and those of its static types. */
const allFolders = ['cases', 'own', 'v10', 'v10-typing'] as const
type Folder = (typeof allFolders)[number]
/** Number of cases that run at a time: their writes share commits, and the service works while some of them wait. */
const concurrentCases = 12
/** The ids of the cases that are expected to fail, as a JSON array. */
export const expectedFailuresFile = pathOf('expected-failures.json')

export function readExpectedFailures(): readonly string[] {
  return JSON.parse(readFileSync(expectedFailuresFile, 'utf8'))
}

export function caseIds(): ReadonlySet<string> {
  const files = allFolders.flatMap(folder =>
    globSync('**/*.json', { cwd: pathOf(folder) }).map(file => join(pathOf(folder), file)),
  )
  return new Set(
    files.flatMap(file => {
      const { area, cases } = JSON.parse(readFileSync(file, 'utf8')) as CaseFile
      return cases.map(({ name }) => `${area}/${name}`)
    }),
  )
}

interface CaseFile {
  readonly area: string
  readonly cases: readonly { readonly name: string }[]
}

/**
 * Steps without the header `x-typecheck` send `false`; `true` in databases with the flag `typechecked`; or, with
 * `database`, nothing in such databases.
 */
type Typecheck = 'false' | 'true' | 'database'

/** Plays the cases of some folders whose id contains `only`. An empty text selects all cases. */
export async function play(
  server: RunningServer,
  only = '',
  folders: readonly Folder[] = allFolders,
): Promise<readonly CaseResult[]> {
  const isTyping = (folder: Folder) => folder === 'v10-typing'
  const others = folders.filter(folder => !isTyping(folder))
  const typing = folders.filter(isTyping)
  return [
    ...(others.length === 0 ? [] : await playWith(server, only, others, 'false')),
    ...(typing.length === 0 ? [] : await playWith(server, only, typing, 'database')),
  ]
}

/** Plays the cases of some folders in one way. */
export async function playWith(
  server: RunningServer,
  only: string,
  folders: readonly Folder[],
  typecheck: Typecheck,
): Promise<readonly CaseResult[]> {
  const words = ['--only', only, '--typecheck', typecheck, '--patience', String(patience(1))]
  return run(server, [runner, ...words, ...folders.map(pathOf)])
}

/** Plays the cases of GraphQL. They have a format and a runner of their own. */
export async function playGraphql(server: RunningServer): Promise<readonly CaseResult[]> {
  return run(server, [graphqlRunner, pathOf('graphql')])
}

/** The number of shared cases of GraphQL. */
const graphqlCases = 216

/** Fails with the complaints of all GraphQL cases that failed. */
export function assertAllPass(results: readonly CaseResult[]): void {
  assert.equal(results.length, graphqlCases, 'all cases were played')
  const failed = results.filter(({ passed }) => !passed)
  const complaints = failed.map(({ complaint, id, step }) => `${id}, ${step}: ${complaint}`)
  assert.deepEqual(complaints, [])
}

/** Runs a runner with its arguments, and returns its report. */
async function run(server: RunningServer, runnerWords: readonly string[]): Promise<readonly CaseResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-conformance-'))
  try {
    const json = join(folder, 'results.json')
    const words = [
      ...runnerWords,
      ...['--url', server.url, '--failures', '0', '--json', json, '--jobs', String(concurrentCases)],
    ]
    const env = { ...process.env, ROOT_SECRET: server.rootSecret }
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
    if (!existsSync(json)) throw new Error('the conformance runner wrote no results')
    return JSON.parse(await readFile(json, 'utf8'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Compares results with the expected failures. Cases that were not played are ignored. */
export function compare(results: readonly CaseResult[], expected: readonly string[]): Difference {
  const listed = new Set(expected)
  return {
    newFailures: results.filter(result => !result.passed && !listed.has(result.id)),
    nowPassing: results.filter(result => result.passed && listed.has(result.id)).map(result => result.id),
  }
}

interface Played {
  readonly folders: readonly Folder[]
  /** Whether the slow lane evaluates every query, or none. */
  readonly isInSlowLane: boolean
  /** Ids of cases whose results are ignored. */
  readonly except?: readonly string[]
}

/**
 * Plays cases against a service of their own, and fails with all differences from the list of expected failures. The
 * runner is a process, and so is a service with a slow lane.
 */
export async function assertAsListed(
  t: TestContext,
  { folders, isInSlowLane, except = [] }: Played,
): Promise<void> {
  const server = isInSlowLane
    ? await startProcess({ flags: ['--slow-lane-after-ms', '0'] })
    : await startServer()
  const played = await play(server, '', folders).finally(() => server.stop())
  const results = played.filter(({ id }) => !except.includes(id))
  assert.equal(played.length - results.length, except.length, 'every excepted id is a case')
  t.diagnostic(`conformance cases passed:\n${table(results)}`)
  const difference = compare(results, readExpectedFailures())
  const complaints = [
    ...difference.newFailures.map(
      result => `fails: ${result.id} (step ${result.step})\n    ${result.complaint}`,
    ),
    ...difference.nowPassing.map(id => `passes now: remove it from the list: ${id}`),
  ]
  assert.equal(
    complaints.length,
    0,
    `${complaints.join('\n')}\n(node scripts/conformance.ts --update takes passing cases off the list)`,
  )
}

/** The number of passed cases in each file, and in total. */
export function table(results: readonly CaseResult[]): string {
  const rows = new Map<string, { passed: number; all: number }>()
  for (const result of results) {
    for (const name of [basename(result.file), 'all files']) {
      const row = rows.get(name) ?? { passed: 0, all: 0 }
      rows.set(name, { passed: row.passed + (result.passed ? 1 : 0), all: row.all + 1 })
    }
  }
  const sum = rows.get('all files')
  rows.delete('all files')
  if (sum) rows.set('all files', sum)
  return [...rows]
    .map(([name, row]) => `${String(row.passed).padStart(5)} of ${String(row.all).padStart(4)}  ${name}`)
    .join('\n')
}
