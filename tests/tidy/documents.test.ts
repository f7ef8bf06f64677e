// The pages for people stay true: a path or link they name exists, and `path#symbol` names something in that file.

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
      /`((?:src|tests|docs|bench|scripts|bin|dashboard)\/[\w./-]*)(?:#([\w.$]+))?`/g,
    )
    for (const [whole, path = '', symbol] of named) {
      if (!exists(path)) dead.push(`${page}: ${whole}`)
      else if (symbol && !read(path).includes(symbol)) dead.push(`${page}: ${whole}: no such symbol`)
    }
  }
  assert.deepEqual(dead, [])
})

test('relative links lead somewhere', () => {
  const dead: string[] = []
  for (const page of pages) {
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      if (!exists(posix.join(posix.dirname(page), target))) dead.push(`${page}: ${target}`)
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
