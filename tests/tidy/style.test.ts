// House rules that the linter cannot express, each with what to do instead. (`any` and default exports are the
// linter's business.)

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { files, read, sources } from './sources.ts'

interface Ban {
  readonly pattern: RegExp
  readonly instead: string
}

/** Ambient time and randomness make a request impossible to replay; they live in `src/base` alone. */
const ambient: readonly Ban[] = [
  {
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\.now\b|\bhrtime\b/,
    instead: 'a clock',
  },
  {
    pattern: /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/,
    instead: 'a random source',
  },
  { pattern: /(?<!\.)\bset(Timeout|Interval)\b|\bAbortSignal\.timeout\b/, instead: 'a timer' },
]

test('time and randomness come from src/base', () => {
  const wrong: string[] = []
  for (const { path, code } of sources) {
    if (!path.startsWith('src/') || path.startsWith('src/base/')) continue
    for (const { line, text } of code) {
      const ban = ambient.find(({ pattern }) => pattern.test(text))
      if (ban) wrong.push(`${path}:${line} uses ambient state; take ${ban.instead} from src/base: ${text}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('nothing is left for later in a comment', () => {
  const pattern = /\bTO[D]O\b|\bFIX[M]E\b|\bX[X]X\b/
  assert.deepEqual(
    sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path),
    [],
  )
})

/** Words of a former dialect, and the terms of the field that are used in their place. */
const formerWords: readonly Ban[] = [
  { pattern: /\bcomings and\s+goings\b/i, instead: 'add and remove events' },
  { pattern: /\bonlookers?\b/i, instead: 'observer' },
  { pattern: /\bSurroundings\b/, instead: 'environment' },
  { pattern: /\bprolong(s|ed|ing)?\b/i, instead: 'renew' },
  { pattern: /\bdear(er|est)?\b/, instead: 'expensive' },
  { pattern: /\border(s|ed|ing)? an export\b|\b(AccountKey|Log|List)Order\b/i, instead: 'request' },
  { pattern: /\b(function|method|call|query) answers (it|the|a|an)\b/i, instead: 'returns' },
  { pattern: /\bthe way of (one|a) query\b/i, instead: 'life of a query' },
  { pattern: /\bmade (when it does not exist|if missing)\b/i, instead: 'created if missing' },
  { pattern: /\bfailed of late\b|\bfailures of late\b/i, instead: 'recently' },
  { pattern: /\bcannot be had\b/i, instead: 'is not available' },
  { pattern: /\b[Dd]ata folders?\b/, instead: 'data directory' },
  { pattern: /\bin vain\b/i, instead: 'wasted, for nothing' },
  { pattern: /\breckon(s|ed|ing)?\b/i, instead: 'count, use, extrapolate' },
  { pattern: /\bfor ever\b/i, instead: 'forever' },
  {
    pattern: /\bin line behind\b|\b(in|overfills|stands in) (the|a|that) line of checks\b/i,
    instead: 'queue',
  },
  {
    pattern: /\b(the works of|what a work|half a work|a work (that|which|is|must|throws))\b/i,
    instead: 'transaction',
  },
  { pattern: /\b(Query|Stream|Text)Answer\b/, instead: 'response, result' },
  { pattern: /\b(holes? in (the|our) (service|security)|security holes?)\b/i, instead: 'vulnerability' },
]

function formerWordsIn(path: string, text: string): readonly string[] {
  return formerWords
    .filter(({ pattern }) => pattern.test(text))
    .map(({ pattern, instead }) => `${path} says ${pattern.exec(text)?.[0]}: ${instead}`)
}

test('the words are those of the glossary', () => {
  const pages = files('{*,docs/**/*}.md').map(path => ({ path, text: read(path) }))
  const texts = [...sources.filter(({ path }) => !path.startsWith('tests/tidy/')), ...pages]
  assert.deepEqual(
    texts.flatMap(({ path, text }) => formerWordsIn(path, text)),
    [],
  )
  assert.deepEqual(formerWordsIn('page.md', 'It prolongs what you order; whoever orders an export waits.'), [
    'page.md says prolongs: renew',
    'page.md says orders an export: request',
  ])
})

test('every file opens with a comment that says what it is for', () => {
  const headless = sources.filter(({ text }) => !/^(#!.*\n)?(\/\/ |\/\*)/.test(text))
  assert.deepEqual(
    headless.map(({ path }) => path),
    [],
  )
})

test('file names are kebab-case and say what is inside', () => {
  const shape = /^[a-z][a-z0-9]*(-[a-z0-9]+)*(\.test|\.d)?\.tsx?$/
  const empty = /(^|-)(utils?|helpers?|common|misc|manager)[-.]/
  const wrong = sources
    .map(({ path }) => path)
    .filter(path => !shape.test(basename(path)) || empty.test(basename(path)))
  assert.deepEqual(wrong, [])
})

/** Lines of code (comments and empty lines are free) past which a file is more than one thing. */
const fileLinesMax = 500
/** Longer files with the reason; the list may only shrink. */
const longFiles: Readonly<Record<string, string>> = {}

test(`no file has more than ${fileLinesMax} lines of code`, () => {
  const long = sources.filter(({ code }) => code.length > fileLinesMax).map(({ path }) => path)
  assert.deepEqual(long, Object.keys(longFiles))
})
