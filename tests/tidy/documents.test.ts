// Checks the pages of documentation: each path and link in them exists. (`code.test.ts` checks names as `path#symbol`.)

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { repository } from '../support/program.ts'
import { files, read } from './sources.ts'

const pages = files('{*,docs/**/*}.md')
const exists = (path: string) => existsSync(join(repository, path))

test('backticked paths exist', () => {
  const dead: string[] = []
  for (const page of pages) {
    const named = read(page).matchAll(
      /`((?:src|tests|docs|bench|scripts|bin|dashboard)\/[\w./-]*)(?:#[\w.$]+)?`/g,
    )
    for (const [whole, path = ''] of named) if (!exists(path)) dead.push(`${page}: ${whole}`)
  }
  assert.deepEqual(dead, [])
})

/** The anchors of a page's headings, as in links after `#`: lower case, no punctuation, hyphens for blanks. */
function anchors(page: string): readonly string[] {
  const headings = read(page).matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('relative links lead to existing pages and headings', () => {
  const dead: string[] = []
  for (const page of pages) {
    for (const [, path = '', anchor] of read(page).matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
      if (/^[a-z]+:/.test(path)) continue
      const target = path === '' ? page : posix.join(posix.dirname(page), path)
      if (!exists(target)) dead.push(`${page}: ${path}`)
      else if (anchor && !anchors(target).includes(anchor)) dead.push(`${page}: ${path}#${anchor}`)
    }
  }
  assert.deepEqual(dead, [])
})

test('every page has one title', () => {
  const wrong = pages.filter(page => {
    const prose = read(page).replace(/^```[\s\S]*?^```/gm, '')
    return prose.match(/^# /gm)?.length !== 1
  })
  assert.deepEqual(wrong, [])
})

/** Maximum number of lines: a longer decision contains measurements or details, which belong into other pages. */
const decisionLinesMax = 40

test(`decisions have at most ${decisionLinesMax} lines`, () => {
  const long = files('docs/decisions/*.md').filter(
    page => read(page).trimEnd().split('\n').length > decisionLinesMax,
  )
  assert.deepEqual(long, [])
})
