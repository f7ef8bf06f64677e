// Lock files, in particular when several processes find the lock of a process that has exited. The calls of another
// process run in this process, at the moment after the chosen read of the first process.

import assert from 'node:assert/strict'
import fs, { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeLock } from '../../../src/base/lock-file.ts'
import { folderOfFile } from '../../support/folder.ts'

const folder = folderOfFile()

/** A place whose lock belongs to a process that has exited. */
function stalePlace(name: string) {
  const place = { folder: join(folder, name), name: 'work' }
  mkdirSync(place.folder)
  // Process ids on Linux are below 2 ** 22.
  writeFileSync(join(place.folder, 'work.0.lock'), String(2 ** 30))
  return place
}

/** Runs `other` once, right after the next call of a function of `node:fs` that `take` makes. */
function during<T>(name: 'readFileSync' | 'readdirSync', other: () => void, take: () => T): T {
  const real = fs[name] as (...words: unknown[]) => unknown
  let isDone = false
  const restore = () => {
    Object.assign(fs, { [name]: real })
    syncBuiltinESMExports()
  }
  const replacement = (...words: unknown[]) => {
    const result = real(...words)
    if (!isDone) {
      isDone = true
      other()
    }
    return result
  }
  Object.assign(fs, { [name]: replacement })
  syncBuiltinESMExports()
  try {
    return take()
  } finally {
    restore()
  }
}

test('a lock is held until it is released, and a stale lock is taken over', () => {
  const place = stalePlace('plain')
  const first = takeLock(place, process.ppid)
  assert.ok('release' in first)
  assert.deepEqual(takeLock(place), { holder: process.ppid, file: join(place.folder, 'work.1.lock') })
  first.release()
  assert.deepEqual(readdirSync(place.folder), [])
  const second = takeLock(place)
  assert.ok('release' in second)
  second.release()
})

for (const step of ['readFileSync', 'readdirSync'] as const)
  test(`only one of two processes takes a stale lock over: the other acts after ${step}`, () => {
    const place = stalePlace(step)
    const other = () => assert.ok('release' in takeLock(place, process.ppid))
    const outcome = during(step, other, () => takeLock(place))
    assert.ok('holder' in outcome)
    assert.equal(outcome.holder, process.ppid)
  })

test('a process that saw no lock withdraws when another process has meanwhile taken over a later one', () => {
  const place = { folder: join(folder, 'late'), name: 'work' }
  mkdirSync(place.folder)
  const other = () => writeFileSync(join(place.folder, 'work.1.lock'), String(process.ppid))
  const outcome = during('readdirSync', other, () => takeLock(place))
  assert.deepEqual(outcome, { holder: process.ppid, file: join(place.folder, 'work.1.lock') })
  assert.deepEqual(readdirSync(place.folder), ['work.1.lock'])
})
