// `npm test`: everything a contributor needs, in one run of Node's test runner; type check and lint are tests too
// (tests/tidy). Fast folders come first. `npm test -- WORD…` runs the files whose path contains one of the words.

import { globSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { run } from 'node:test'
import { spec, type TestEvent } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { patience } from '../tests/support/patience.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

/**
 * Folders of tests in the order they run; those not named come in the middle. Many short files at the end keep all
 * cores busy.
 */
const firstFolders = ['tidy', 'unit', 'kv']
const lastFolders = ['crash', 'conformance', 'driver']

/** Test files at a time; more than two would only fight for the cores of a small machine. */
const concurrency = 2
/** Each test file and each service that it starts is a process: what one has compiled, the others need not. */
const compileCache = join(repository, 'node_modules/.cache/compile')
/** Milliseconds after which a test file counts as hung. */
const timeout = patience(6 * 60_000)

function rank(file: string): number {
  const folder = relative('tests', dirname(file)).split(sep)[0] ?? ''
  if (firstFolders.includes(folder)) return firstFolders.indexOf(folder)
  if (lastFolders.includes(folder)) return 100 + lastFolders.indexOf(folder)
  return 50
}

/** Repeats every skipped test with its reason right above the summary, where nobody can miss it. */
async function* announceSkips(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const skipped: string[] = []
  for await (const event of events) {
    if (event.type === 'test:pass' && event.data.skip !== undefined && event.data.skip !== false) {
      skipped.push(`${event.data.name}: ${event.data.skip === true ? 'no reason given' : event.data.skip}`)
    }
    const isSummary = event.type === 'test:diagnostic' && /^tests \d+$/.test(event.data.message)
    if (isSummary && skipped.length > 0) {
      const message = `\nSKIPPED, so not verified by this run:\n${skipped.map(line => `  ${line}\n`).join('')}\n`
      yield { type: 'test:stdout', data: { file: '', message } } as TestEvent
      skipped.length = 0
    }
    yield event
  }
}

process.chdir(repository)
process.env.NODE_COMPILE_CACHE ??= compileCache
const words = process.argv.slice(2)
const files = globSync('tests/**/*.test.ts')
  .filter(file => words.length === 0 || words.some(word => file.includes(word)))
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))

if (files.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`)
  process.exitCode = 1
} else {
  const events = run({ files, concurrency, timeout })
  events.on('test:fail', event => {
    if (event.todo === undefined || event.todo === false) process.exitCode = 1
  })
  events.compose(announceSkips).compose(new spec()).pipe(process.stdout)
}
