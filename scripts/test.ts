// Runs tests: `npm test`, `npm run test:faults`, `npm run test:soak`. Arguments select files of all suites whose path
// contains one of them: `npm test -- conformance login`. `npm run test:soak -- laws --minutes 15` tries random inputs of
// each law for 15 minutes.
//
// Starting a process and loading some eight hundred sources costs half a second of CPU time, so most files share a
// process with the others of their folder (scripts/test-plan.ts).

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { patience } from '../tests/support/patience.ts'
import { minutesVariable, suiteVariable } from '../tests/support/suite.ts'
import { readOptions } from './command-line.ts'
import { type Batch, belongsTo, planOf, type Suite } from './test-plan.ts'
import { watchTests } from './watch-tests.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

/** The same flags as in bin/terrarium.js, because services run within test processes. */
const serviceFlags = ['--stack-size=3600', '--max-semi-space-size=32', '--v8-pool-size=0']
/** While a process waits for a disk or a timer, another can use its core. */
const concurrency = availableParallelism() + 2
/**
 * Milliseconds after which a single test counts as hung; the longest one plays some four thousand conformance cases.
 */
const hungAfterMs = patience(8 * 60_000)
/** Limit for a soak, whose longest test kills a service three hundred times. */
const soakHungAfterMs = 12 * 3_600_000
const slowestCount = 10
const memoryFolder = '/dev/shm'
/** Minimum of the free memory, and of the free bytes of {@link memoryFolder}, for the files of tests. */
const memoryMinBytes = 6 * 1024 ** 3

interface Results {
  readonly counts: {
    tests: number
    passed: number
    failed: number
    cancelled: number
    skipped: number
    todo: number
  }
  /** Milliseconds by file. */
  readonly times: Map<string, number>
  /** Names of skipped tests, with their reasons. */
  readonly skipped: string[]
}

/** Node's own lines with totals, which each test process would repeat. */
const countLine = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

/** Adds the summary to `results`, and yields the other events. */
async function* eventsOf(batch: Batch, results: Results): AsyncGenerator<TestEvent> {
  const events = run({
    files: [join(repository, 'tests/support/batch.ts')],
    argv: [...batch],
    execArgv: serviceFlags,
    concurrency: 1,
    ...(namePatterns !== undefined && { testNamePatterns: namePatterns }),
    timeout: values.soak ? soakHungAfterMs : hungAfterMs,
  })
  for await (const event of events as AsyncIterable<TestEvent>) {
    if (event.type === 'test:diagnostic' && countLine.test(event.data.message)) continue
    if (event.type === 'test:summary') {
      addSummary(event.data, results)
      continue
    }
    if (event.type === 'test:pass' || event.type === 'test:fail') addResult(event.data, results)
    yield event
  }
}

type Summary = Extract<TestEvent, { type: 'test:summary' }>['data']
type TestResult = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>['data']

function addSummary({ counts, file }: Summary, results: Results): void {
  if (file !== undefined) return
  for (const name of Object.keys(results.counts) as (keyof Results['counts'])[])
    results.counts[name] += (counts as Readonly<Record<string, number>>)[name] ?? 0
}

function addResult({ details, name, nesting, skip }: TestResult, results: Results): void {
  if (nesting === 0) results.times.set(name, details.duration_ms)
  if (skip !== undefined && skip !== false)
    results.skipped.push(`${name}: ${skip === true ? 'no reason given' : skip}`)
}

/** Runs some processes at a time. Events of a process stay together, so that the output is readable. */
async function* eventsOfAll(batches: readonly Batch[], results: Results): AsyncGenerator<TestEvent> {
  const waiting = [...batches]
  const running = new Map<Batch, Promise<readonly TestEvent[]>>()
  const started = performance.now()
  // Node exits silently when nothing can happen any more, for example if the events of a test process never end.
  process.once('exit', () => {
    if (waiting.length + running.size === 0) return
    process.exitCode = 1
    const unfinished = [...running.keys(), ...waiting].flat()
    console.error(`the run ended before these files were complete: ${unfinished.join(', ')}`)
  })
  while (waiting.length > 0 || running.size > 0) {
    for (const next of waiting.splice(0, concurrency - running.size))
      running.set(next, Array.fromAsync(eventsOf(next, results)))
    const [ended, events] = await Promise.race(
      [...running].map(async ([batch, all]) => [batch, await all] as const),
    )
    running.delete(ended)
    yield* events
  }
  yield* summaryOf(results, performance.now() - started)
}

function* summaryOf({ counts, skipped, times }: Results, durationMs: number): Generator<TestEvent> {
  const print = (message: string) => ({ type: 'test:stdout', data: { file: '', message } }) as TestEvent
  const slowest = [...times].sort(([, a], [, b]) => b - a).slice(0, slowestCount)
  const rows = slowest.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}\n`)
  yield print(`\nSlowest files:\n${rows.join('')}`)
  if (skipped.length > 0)
    yield print(`\nSKIPPED, so not verified by this run:\n${skipped.map(line => `  ${line}\n`).join('')}\n`)
  const { cancelled, failed, passed, skipped: skippedCount, tests, todo } = counts
  const lines = {
    ...{ tests, pass: passed, fail: failed, cancelled, skipped: skippedCount, todo },
    duration_ms: Math.round(durationMs),
  }
  for (const [name, value] of Object.entries(lines))
    yield {
      type: 'test:diagnostic',
      data: { nesting: 0, message: `${name} ${value}`, level: 'info' },
    } as TestEvent
}

/**
 * Puts the temporary files of all tests into memory if there is room: services sync each commit, which takes longer on
 * a disk than the commit. `kill -9` loses no data of either, and no test cuts the power. `TMPDIR` names another folder.
 */
function useMemoryForFiles(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(memoryFolder)) return
  const { bavail, bsize } = statfsSync(memoryFolder)
  if (Math.min(bavail * bsize, freemem()) < memoryMinBytes) return
  const folder = mkdtempSync(join(memoryFolder, 'terrarium-'))
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Without a handler, a signal ends the process without the event `exit`.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
}

const usage = `npm test -- [WORD…] [options]

Runs the test files whose path contains one of the words; without words, all files of the suite.

  --test-name-pattern TEXT   runs only tests whose name matches the regular expression
  --watch                    runs again when a source changes
  --faults                   the fault tests (npm run test:faults)
  --soak                     the tests that take hours (npm run test:soak)
  --minutes M                in a soak, the minutes for the random inputs of each law
  --help                     prints this text`
const { positionals: words, values } = readOptions({
  usage,
  options: {
    faults: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    'test-name-pattern': { type: 'string', multiple: true },
    watch: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const namePatterns = values['test-name-pattern']
const suite: Suite = values.soak ? 'soak' : values.faults ? 'faults' : 'test'

function runFiles(): void {
  process.chdir(repository)
  useMemoryForFiles()
  // Processes share compiled code through this folder.
  process.env.NODE_COMPILE_CACHE ??= join(repository, 'node_modules/.cache/compile')
  if (values.minutes !== undefined) process.env[minutesVariable] = values.minutes
  process.env[suiteVariable] = suite
  const files = globSync('tests/**/*.test.ts')
    .sort()
    .filter(file => words.length === 0 || words.some(word => file.includes(word)))
    // With words, `npm test` also runs files of the other suites, so that contributors need not know the suite of a
    // file.
    .filter(file => (words.length > 0 && suite === 'test') || belongsTo(suite, file))
  if (files.length === 0) {
    console.error(`no test file matches ${words.join(' ')}`)
    process.exitCode = 1
    return
  }
  // Tests start the built program and load the built dashboard.
  for (const script of ['build-program.js', 'build-dashboard.js'])
    execFileSync(process.execPath, [join(repository, 'scripts', script)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  const results: Results = {
    counts: { tests: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 },
    times: new Map(),
    skipped: [],
  }
  const events = Readable.from(eventsOfAll(planOf(files, availableParallelism()), results))
  events.on('data', (event: TestEvent) => {
    if (event.type === 'test:fail' && (event.data.todo === undefined || event.data.todo === false))
      process.exitCode = 1
  })
  events.compose(new spec()).pipe(process.stdout)
}

const script = fileURLToPath(import.meta.url)
if (values.watch)
  watchTests(
    repository,
    script,
    process.argv.slice(2).filter(word => word !== '--watch'),
  )
else runFiles()
