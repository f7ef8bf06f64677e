// Incomplete data files are rejected with a one-line message before they are mapped, because mapping them would crash
// the process.

import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import { checkDataFile, findDamage, pageBytes } from '../../src/storage/lmdb/data-file.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { copyStore } from '../../src/storage/log/store-copy.ts'
import { folderOfFile } from '../support/folder.ts'
import { runProgram } from '../support/program.ts'

const scratch = folderOfFile()

/** A folder whose trees have several levels and values with pages of their own. */
const whole = join(scratch, 'whole')
{
  const store = openLmdb({ path: whole })
  for (let batch = 0; batch < 20; batch++) {
    const writes = Array.from({ length: 200 }, (_, index) => ({
      key: Buffer.from(`key ${batch} ${index}`),
      value: Buffer.alloc(index % 50 === 0 ? 20_000 : 300, batch),
    }))
    await store.transact(() => ({ result: undefined, writes }))
  }
  await store.close()
}
const wholeFile = join(whole, 'data.mdb')
const content = readFileSync(wholeFile)

let made = 0
/** A copy of the folder to be damaged; returns its data file. */
function copied(): { folder: string; file: string } {
  const folder = join(scratch, `copy ${made++}`)
  mkdirSync(folder)
  const file = join(folder, 'data.mdb')
  copyFileSync(wholeFile, file)
  return { folder, file }
}

test('a complete file, a new file, a copy and a file in use pass the check', async () => {
  checkDataFile(wholeFile)
  const store = openLmdb({ path: join(scratch, 'new') })
  checkDataFile(join(scratch, 'new', 'data.mdb'))
  const copy = join(scratch, 'copy')
  mkdirSync(copy)
  await copyStore(whole, copy)
  checkDataFile(join(copy, 'data.mdb'))
  const again = openLmdb({ path: copy })
  for (let n = 0; n < 5; n++) {
    checkDataFile(join(copy, 'data.mdb'))
    const writes = [{ key: Buffer.from('k'), value: Buffer.from([n]) }]
    await again.transact(() => ({ result: undefined, writes }))
  }
  await again.close()
  checkDataFile(join(copy, 'data.mdb'))
  let isDone = false
  const writing = (async () => {
    for (let n = 0; n < 200; n++) {
      const writes = [{ key: Buffer.from(`k${n}`), value: Buffer.alloc(3000) }]
      await store.transact(() => ({ result: undefined, writes }))
    }
    isDone = true
  })()
  while (!isDone) {
    checkDataFile(join(scratch, 'new', 'data.mdb'))
    await new Promise(resolve => setImmediate(resolve))
  }
  await writing
  await store.close()
})

test('a file that is truncated anywhere is rejected', () => {
  const { file } = copied()
  const pages = content.length / pageBytes
  for (let page = pages - 1; page >= 1; page -= Math.max(1, Math.floor(page / 20))) {
    truncateSync(file, page * pageBytes - 7)
    assert.throws(() => checkDataFile(file), StoreUnavailableError, `cut to ${page} pages`)
  }
})

test('free pages at the end that were never written may be missing', () => {
  const { file } = copied()
  const bytes = Buffer.from(content)
  for (const meta of [0, 1]) {
    const offset = meta * pageBytes + 144
    bytes.writeBigUInt64LE(bytes.readBigUInt64LE(offset) + 5n, offset)
  }
  writeFileSync(file, bytes)
  checkDataFile(file)
})

test('a changed byte on a meta page is rejected, except in counts and in the boot id', () => {
  const { file } = copied()
  const unseen: number[] = []
  const newest = content.readBigUInt64LE(152) > content.readBigUInt64LE(pageBytes + 152) ? 0 : 1
  for (let place = 0; place < 160; place++) {
    const bytes = Buffer.from(content)
    bytes[newest * pageBytes + place] = (bytes[newest * pageBytes + place] as number) ^ 0xff
    writeFileSync(file, bytes)
    try {
      checkDataFile(file)
      unseen.push(place)
    } catch (error) {
      assert.ok(error instanceof StoreUnavailableError)
    }
  }
  const counts = [...range(56, 88), ...range(104, 136)]
  const unused = [...range(8, 18), ...range(20, 24), 30, 31, ...range(96, 102)]
  // Another size of the map, another page that could begin a tree, and more free pages at the end.
  const plausible = [...range(41, 45), 88, 136, ...range(144, 147)]
  assert.deepEqual(
    unseen.filter(place => ![...counts, ...unused, ...plausible].includes(place)),
    [],
  )
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

const damages: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['half of it', bytes => bytes.subarray(0, bytes.length / 2)],
  ['all but the last page', bytes => bytes.subarray(0, bytes.length - pageBytes)],
  ['half a page', bytes => bytes.subarray(0, 2000)],
  ['one page', bytes => bytes.subarray(0, pageBytes)],
  ['zeros', bytes => Buffer.alloc(bytes.length)],
  ['no first meta page', bytes => Buffer.concat([Buffer.alloc(pageBytes, 7), bytes.subarray(pageBytes)])],
  [
    'no second meta page',
    bytes =>
      Buffer.concat([bytes.subarray(0, pageBytes), Buffer.alloc(pageBytes), bytes.subarray(2 * pageBytes)]),
  ],
  ['a text', () => Buffer.from('a text that is longer than a few bytes, and no data file')],
]

for (const [what, damage] of damages) {
  test(`a store of which only ${what} is left is not opened`, () => {
    const { folder, file } = copied()
    writeFileSync(file, damage(content))
    assert.throws(() => openLmdb({ path: folder }), StoreUnavailableError)
    assert.deepEqual(readFileSync(file), damage(content))
  })
}

const commands: Readonly<Record<string, (folder: string, target: string) => string[]>> = {
  check: folder => ['check', '--data', folder],
  serve: folder => ['serve', '--port', '0', '--data', folder],
  backup: (folder, target) => ['backup', target, '--data', folder],
  restore: (folder, target) => ['restore', folder, '--data', target],
}

for (const [name, words] of Object.entries(commands)) {
  for (const bytes of [0, content.length / 2]) {
    test(`${name} reports in one line that only ${bytes} bytes of the data file are left`, async () => {
      const { folder, file } = copied()
      truncateSync(file, bytes)
      mkdirSync(join(folder, 'query-log'))
      const { status, stderr, stdout } = await runProgram(words(folder, join(scratch, `target ${made++}`)), {
        TERRARIUM_LOG_LEVEL: 'silent',
      })
      assert.equal(status, 1, `${stdout}${stderr}`)
      assert.match(stderr, /^terrarium: [^\n]+\n$/)
      assert.equal(stdout, '')
    })
  }
}

test('a complete check detects every replaced page of a tree', async () => {
  assert.equal(await findDamage(wholeFile), undefined)
  const pages = content.length / pageBytes
  const { file } = copied()
  const found = new Map<string, number>()
  const damages: Readonly<Record<string, (page: Buffer) => void>> = {
    zeroed: page => page.fill(0),
    'of another place': page => page.writeBigUInt64LE(3n, 0),
    // A count that is two nodes too low.
    'with fewer nodes': page => page.writeUInt16LE(Math.max(0, page.readUInt16LE(20) - 4), 20),
  }
  for (let number = 2; number < pages; number += 3)
    for (const [name, damage] of Object.entries(damages)) {
      const damaged = Buffer.from(content)
      damage(damaged.subarray(number * pageBytes, (number + 1) * pageBytes))
      writeFileSync(file, damaged)
      if ((await findDamage(file)) !== undefined) found.set(name, (found.get(name) ?? 0) + 1)
    }
  const tried = Math.ceil((pages - 2) / 3)
  // Other pages are free, or inside large values, whose bytes are not checked.
  for (const name of Object.keys(damages))
    assert.ok((found.get(name) ?? 0) > tried / 4, `${name}: ${found.get(name)} of ${tried}`)
})
