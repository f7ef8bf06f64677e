// House rules that the linter cannot express, each with the alternative. (The linter rejects `any` and default
// exports.)

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { sources } from './sources.ts'

interface Ban {
  readonly pattern: RegExp
  readonly instead: string
}

/** Requests that use ambient time and randomness cannot be replayed, so only `src/base` may use them. */
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

test('comments contain no work for later', () => {
  const pattern = /\bTO[D]O\b|\bFIX[M]E\b|\bX[X]X\b/
  assert.deepEqual(
    sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path),
    [],
  )
})

test('every file begins with a comment about its purpose', () => {
  const headless = sources.filter(({ text }) => !/^(#!.*\n)?(\/\/ |\/\*)/.test(text))
  assert.deepEqual(
    headless.map(({ path }) => path),
    [],
  )
})

test('file names are kebab-case and describe the content', () => {
  const shape = /^[a-z][a-z0-9]*(-[a-z0-9]+)*(\.test|\.d)?\.tsx?$/
  const empty = /(^|-)(utils?|helpers?|common|misc|manager)[-.]/
  const wrong = sources
    .map(({ path }) => path)
    .filter(path => !shape.test(basename(path)) || empty.test(basename(path)))
  assert.deepEqual(wrong, [])
})

/** Maximum lines of code of a file, without comments and empty lines: a longer file has more than one purpose. */
const fileLinesMax = 500
/** Longer files with the reason; the list may only shrink. */
const longFiles: Readonly<Record<string, string>> = {}

test(`no file has more than ${fileLinesMax} lines of code`, () => {
  const long = sources.filter(({ code }) => code.length > fileLinesMax).map(({ path }) => path)
  assert.deepEqual(long, Object.keys(longFiles))
})
