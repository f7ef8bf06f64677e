// Segment files: appended records are found by time, region and database; crashes, full disks and expiry.

import assert from 'node:assert/strict'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { version4 } from '../../src/fql4/language.ts'
import { RecordWriter } from '../../src/query-log/record-writer.ts'
import {
  listSegments,
  removeOldSegments,
  segmentPath,
  sumsName,
  writtenUpTo,
} from '../../src/query-log/segment-files.ts'
import { matchingRecords, type RecordFilter } from '../../src/query-log/segment-reader.ts'
import { type SegmentFile, SegmentWriter } from '../../src/query-log/segment-writer.ts'
import { foldersOfFile } from '../support/folder.ts'
import { ManualTime, startMs, until } from './manual-time.ts'
import { LineFormat } from './old-lines.ts'
import { plainRequest, recorded } from './records.ts'

const writers: SegmentWriter[] = []
after(() => Promise.all(writers.map(writer => writer.close())))
const newFolder = foldersOfFile()

function setUp(options: Partial<ConstructorParameters<typeof SegmentWriter>[0]> = {}) {
  const folder = newFolder()
  const time = new ManualTime()
  const losses: number[] = []
  const writer = new SegmentWriter({
    folder,
    regionGroup: 'us-std',
    writer: 'a1',
    clock: time,
    timers: time,
    segmentBytes: 1_000_000,
    segmentMs: 3_600_000,
    onLoss: records => losses.push(records),
    ...options,
  })
  writers.push(writer)
  const records = new RecordWriter(writer, { '4': version4 })
  const format = new LineFormat('us-std', { '4': version4 })
  let latest = time.now()
  const now = writer.now.bind(writer)
  writer.now = () => {
    latest = now()
    return latest
  }
  /** Records a request, and returns its line in exports. */
  const add = (database: readonly string[], mark = '') => {
    const request = {
      ...plainRequest,
      headers: { 'user-agent': mark },
      database: {
        names: database,
        ids: database.map((_, at) => BigInt(1 + paths.indexOf(database.slice(0, at + 1).join('/')))),
      },
    }
    records.write(...recorded(request))
    return format.parts(request, latest).record
  }
  return { folder, time, writer, losses, add }
}

/** The paths of databases, whose ids are 1, 2, and so on. */
const paths = ['app', 'app/child', 'app2', 'other', 'other/app', 'a"b']

const all = { from: startMs - 1e9, to: startMs + 1e9, regionGroup: 'us-std' }

async function found(folder: string, filter: Partial<RecordFilter> = {}): Promise<string[]> {
  const blocks = await Array.fromAsync(matchingRecords(folder, { ...all, ...filter }))
  return blocks.join('').split(/(?<=\n)/)
}

async function firstSegment(folder: string): Promise<string> {
  const [segment] = await listSegments(folder)
  return segment?.path as string
}

test('records are found by time: first inclusive, last exclusive', async () => {
  const { folder, time, writer, add } = setUp()
  const lines: string[] = []
  for (let n = 0; n < 5; n++) {
    lines.push(add(['app']))
    time.advance(10)
  }
  await writer.flush()
  assert.deepEqual(await found(folder), lines)
  assert.deepEqual(await found(folder, { from: startMs + 10, to: startMs + 30 }), lines.slice(1, 3))
  assert.deepEqual(await found(folder, { from: startMs + 11, to: startMs + 31 }), lines.slice(2, 4))
  assert.deepEqual(await found(folder, { from: startMs + 50 }), [''])
  assert.deepEqual(await found(folder, { regionGroup: 'eu-std' }), [''])
})

test('a database selects its own records and those of its descendants, by whole names', async () => {
  const { folder, writer, add } = setUp()
  const own = add(['app'])
  add(['app2'])
  const child = add(['app', 'child'])
  add([])
  add(['other', 'app'])
  const quoted = add(['a"b'])
  await writer.flush()
  assert.deepEqual(await found(folder, { database: '1' }), [own, child])
  assert.deepEqual(await found(folder, { database: '2' }), [child])
  assert.deepEqual(await found(folder, { database: '6' }), [quoted])
})

test('an incomplete line at the end, after a crash, is skipped; other segments are read', async () => {
  const { folder, writer, add } = setUp()
  const line = add(['app'])
  await writer.close()
  const old = (writer: string) =>
    join(folder, `${String(startMs * 1000 + 5).padStart(19, '0')}-${writer}.ndjson`)
  writeFileSync(old('b1'), `${line}${line.slice(0, 100)}`)
  writeFileSync(old('b2'), `garbage\n\n{}\n{"TS":1}\n${'\0'.repeat(50)}\n${line}`)
  assert.deepEqual(await found(folder), [line, line, line])
})

test('of an incomplete block at the end, after a crash, the complete records are read', async () => {
  const { folder, writer, add } = setUp()
  const lines = Array.from({ length: 30 }, (_, n) => add(['app'], `mark ${n}`))
  await writer.close()
  const path = await firstSegment(folder)
  const bytes = readFileSync(path)
  let records = lines.length
  for (let end = bytes.length; end >= 0; end--) {
    truncateSync(path, end)
    const left = (await found(folder)).filter(line => line !== '')
    assert.deepEqual(left, lines.slice(0, left.length))
    assert.ok([records, records - 1].includes(left.length), `${left.length} records in ${end} bytes`)
    records = left.length
  }
  assert.equal(records, 0)
  // After a power failure, the file may end with zeros.
  for (const zeros of [8, 4096]) {
    const left = zeros === 8 ? bytes.length - 10 : bytes.length
    writeFileSync(path, Buffer.concat([bytes.subarray(0, left), Buffer.alloc(zeros)]))
    assert.deepEqual(await found(folder), zeros === 8 ? lines.slice(0, -1) : lines)
  }
})

test('a segment of a later version is rejected, not skipped', async () => {
  const { folder, writer, add } = setUp()
  add(['app'])
  await writer.close()
  const path = await firstSegment(folder)
  const later = readFileSync(path, 'latin1').replace('"queryLog":1', '"queryLog":2')
  writeFileSync(path, later, 'latin1')
  await assert.rejects(found(folder), /version 2 of the query log's format; this program knows version 1/)
})

test('records larger and smaller than the blocks in which they are read', async () => {
  const { folder, writer, add } = setUp()
  const lines = Array.from({ length: 300 }, (_, n) => add(['app'], 'x'.repeat((n * 997) % 20_000)))
  await writer.flush()
  assert.deepEqual(await found(folder), lines)
})

test('any number of records is delivered in blocks of limited size', async () => {
  const { folder, writer, add } = setUp()
  const count = 20_000
  for (let n = 0; n < count; n++) {
    add(['app'])
    if (n % 5000 === 0) await writer.flush()
  }
  await writer.close()
  let records = 0
  for await (const block of matchingRecords(folder, all)) {
    assert.ok(block.length <= 524_288)
    records += block.toString().split('\n').length - 1
  }
  assert.equal(records, count)
})

/** All records, and the damage that was reported. */
async function withDamage(folder: string) {
  const told: [string, number][] = []
  const records = matchingRecords(folder, all, undefined, (...damage) => told.push(damage))
  return { lines: (await Array.fromAsync(records)).join(''), told }
}

test('lines with any characters in their details are read, and a line without a trail belongs to no database', async () => {
  const { folder, writer, add } = setUp()
  const lines = ['first', 'second', 'third'].map(mark => add(['app'], mark))
  await writer.close()
  const stored = await firstSegment(folder)
  rmSync(stored)
  const facts = JSON.stringify(['key/0/12', 'admin', '', '\u2028\u2029[\r', '/', 0])
  writeFileSync(stored.replace('.log', '.ndjson'), `/1/${facts}${lines[0]}/1/${lines[1]}${lines[2]}`)
  assert.deepEqual(await found(folder), lines)
  assert.deepEqual(await found(folder, { database: '1' }), lines.slice(0, 2))
})

test('lines damaged by a disk are left out, counted and logged', async () => {
  const { folder, writer, add } = setUp()
  const lines = Array.from({ length: 6 }, (_, n) => add(['app'], `mark ${n}`))
  await writer.close()
  const stored = await firstSegment(folder)
  rmSync(stored)
  const path = stored.replace('.log', '.ndjson')
  const damaged = [...lines]
  // A quote inside, no closing bracket, an invalid byte.
  damaged[1] = (damaged[1] as string).replace('"DATABASE":[', '"DATABASE":["')
  damaged[2] = (damaged[2] as string).replace('}\n', ')\n')
  const bytes = Buffer.from(damaged.join(''))
  bytes[bytes.indexOf('mark 4')] = 0xff
  writeFileSync(path, bytes)
  assert.deepEqual(await withDamage(folder), {
    lines: [0, 3, 5].map(n => lines[n]).join(''),
    told: [[path, 3]],
  })
})

test('blocks damaged by a disk are left out, counted and logged; no record gets the text of another', async () => {
  const { folder, writer, add } = setUp()
  const blocks: string[][] = []
  // Each block has a text of its own, and uses the texts of all earlier blocks.
  for (let at = 0; at < 5; at++) {
    blocks.push(Array.from({ length: at + 1 }, (_, n) => add(['app'], `mark ${n}`)))
    await writer.flush()
  }
  await writer.close()
  const path = await firstSegment(folder)
  const bytes = readFileSync(path)
  const starts: number[] = []
  for (let at = bytes.indexOf('TLB\x01'); at >= 0; at = bytes.indexOf('TLB\x01', at + 1)) starts.push(at)
  assert.equal(starts.length, 5)
  const damage = async (at: number) => {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] as number) ^ 0x10
    writeFileSync(path, damaged)
    return withDamage(folder)
  }
  const text = (...from: readonly (readonly string[])[]) => from.flat().join('')
  // A flipped bit in the magic, the checksum, the length, the count and the frames of the third block.
  for (const offset of [0, 5, 9, 24, 40]) {
    const { lines, told } = await damage((starts[2] as number) + offset)
    // The text "mark 2" is lost with its block, and with it one record of each later block.
    const left = [blocks[0], blocks[1], ...blocks.slice(3).map(block => block.filter((_, n) => n !== 2))]
    assert.equal(lines, text(...(left as string[][])), `bit flipped at ${offset}`)
    assert.deepEqual(told, [[path, 5]])
  }
  // The first block has the texts of all records.
  const { lines, told } = await damage((starts[0] as number) + 30)
  assert.deepEqual([lines, told], ['', [[path, 15]]])
})

test('a search without results ends when it is cancelled', async () => {
  const { folder, writer, add } = setUp()
  add(['app'])
  await writer.flush()
  const filter = { ...all, regionGroup: 'eu-std' }
  const records = matchingRecords(folder, filter, AbortSignal.abort(new Error('called off')))
  await assert.rejects(records.next(), { message: 'called off' })
})

test('a segment is closed when it is full and when it is old', async () => {
  const { folder, time, writer, add } = setUp({ segmentBytes: 500, segmentMs: 60_000 })
  add(['app'], 'x'.repeat(1000))
  await writer.flush()
  add(['app'])
  await writer.flush()
  assert.equal((await listSegments(folder)).length, 2)
  time.advance(60_000)
  await writer.flush()
  add(['app'])
  await writer.flush()
  assert.equal((await listSegments(folder)).length, 3)
  assert.equal((await found(folder)).length, 3)
})

test('records are written within half a second without a request', async () => {
  const { folder, time, add } = setUp()
  add(['app'])
  assert.equal((await listSegments(folder)).length, 0)
  time.advance(500)
  await until(() => readdirSync(folder).some(name => name.endsWith('.log')), 'a flush')
})

test('times never go back, even when the clock does', async () => {
  const { time, writer } = setUp()
  const first = writer.now()
  time.advance(-5000)
  assert.ok(writer.now() > first)
})

test('a full disk loses records, not queries: lost records are counted, the others are found', async () => {
  let isFull = true
  const written: Buffer[] = []
  const openFile = async (): Promise<SegmentFile> =>
    ({
      async writev(buffers: readonly Buffer[]) {
        if (isFull) throw new Error('ENOSPC')
        for (const buffer of buffers) written.push(Buffer.from(buffer))
        return { bytesWritten: buffers.reduce((sum, { length }) => sum + length, 0), buffers: [] }
      },
      datasync: async () => {},
      close: async () => {},
    }) as unknown as SegmentFile
  const { folder, time, writer, losses, add } = setUp({ openFile })
  add(['app'])
  add(['app'])
  await writer.flush()
  assert.deepEqual(losses, [2])
  isFull = false
  const line = add(['app'])
  await writer.flush()
  assert.deepEqual(losses, [2])
  await writer.close()
  writeFileSync(segmentPath(folder, time.now(), 'b1'), Buffer.concat(written))
  assert.deepEqual(await found(folder), [line])
})

test('after a failed write, all later records can be read, and all others are counted', async () => {
  let isFull = false
  const openFile = async (path: string): Promise<SegmentFile> => {
    const file = await open(path, 'ax')
    return {
      writev: async (buffers: readonly Buffer[]) => {
        if (isFull) throw new Error('ENOSPC')
        return file.writev([...buffers])
      },
      datasync: () => file.datasync(),
      close: () => file.close(),
    } as unknown as SegmentFile
  }
  const { folder, writer, losses, add } = setUp({ openFile })
  const kept = [add(['app'], 'first')]
  await writer.flush()
  isFull = true
  add(['app'], 'second')
  const failing = writer.flush()
  // This record uses a text of the block that is lost.
  await Promise.resolve()
  add(['app'], 'second')
  await failing
  isFull = false
  kept.push(add(['app'], 'second'), add(['app'], 'first'))
  await writer.close()
  assert.deepEqual(await found(folder), kept)
  const lost = losses.reduce((sum, count) => sum + count, 0)
  assert.equal(lost, 2)
})

test('memory is limited while a disk does not respond', async () => {
  let release = () => {}
  const stuck = new Promise<void>(resolve => {
    release = resolve
  })
  const openFile = async (): Promise<SegmentFile> =>
    ({
      writev: async (buffers: readonly Buffer[]) => {
        await stuck
        return { bytesWritten: buffers.reduce((sum, { length }) => sum + length, 0), buffers: [] }
      },
      datasync: async () => {},
      close: async () => {},
    }) as unknown as SegmentFile
  const { writer, losses, add } = setUp({ openFile, bufferBytes: 1_000_000 })
  for (let n = 0; n < 4000; n++) add(['app'], `${n}${'x'.repeat(500)}`)
  release()
  await writer.flush()
  assert.equal(losses.length, 1)
  assert.ok((losses[0] as number) > 1000, `${losses[0]} lost`)
})

/** A folder in which another process has written its records up to `ms`, before those for which a reader waits. */
function besideAnother(ms: number) {
  const { folder, time, writer } = setUp()
  const other = join(folder, 'b2.live')
  const mark = (ms: number) => {
    writeFileSync(other, '')
    utimesSync(other, ms / 1000, ms / 1000)
  }
  mark(ms)
  const wait = () => writtenUpTo(folder, micros(startMs * 1000), { now: time.now, timers: time })
  return { mark, other, time, wait, writer }
}

const ends: Readonly<Record<string, (other: string, mark: (ms: number) => void) => void>> = {
  'it has written': (_, mark) => mark(startMs),
  'it has ended': other => rmSync(other),
}
for (const [end, act] of Object.entries(ends)) {
  test(`waiting for another process ends when ${end}`, async () => {
    const { mark, other, time, wait, writer } = besideAnother(startMs - 1000)
    await writer.flush()
    let isOver = false
    const waited = wait().then(() => {
      isOver = true
    })
    for (let turn = 0; turn < 50; turn++) {
      time.advance(20)
      await new Promise(setImmediate)
    }
    assert.equal(isOver, false)
    act(other, mark)
    await until(() => {
      time.advance(20)
      return isOver
    }, 'the other process')
    await waited
  })
}

test('no process waits for another process that has been silent for a minute', async () => {
  const { wait, writer } = besideAnother(startMs - 60_000)
  await writer.close()
  await wait()
})

test('segments are removed by age, then by size, oldest first; open segments stay', async () => {
  const { folder, time, writer, add } = setUp()
  add(['app'])
  await writer.flush()
  const day = 86_400_000
  const segment = (name: string, ageDays: number, bytes: number) => {
    const modified = (startMs - ageDays * day) / 1000
    const path = join(
      folder,
      `${String(startMs * 1000 - ageDays * day * 1000).padStart(19, '0')}-${name}.ndjson`,
    )
    writeFileSync(path, 'x'.repeat(bytes))
    utimesSync(path, modified, modified)
    return path
  }
  const open = await firstSegment(folder)
  segment('c1', 31, 100)
  const middle = segment('c2', 20, 5000)
  const young = segment('c3', 10, 5000)
  const size = statSync(open).size
  const paths = async () => (await listSegments(folder)).map(({ path }) => path)
  await removeOldSegments(folder, { days: 30, bytes: 10_000 + size }, time.now())
  assert.deepEqual(await paths(), [middle, young, open])
  await removeOldSegments(folder, { days: 30, bytes: 9999 + size }, time.now())
  assert.deepEqual(await paths(), [young, open])
  // The sums of a segment count, too.
  const older = segment('c4', 15, 100)
  mkdirSync(join(folder, 'sums'))
  writeFileSync(join(folder, 'sums', sumsName(older)), 'x'.repeat(4000))
  await removeOldSegments(folder, { days: 30, bytes: 9100 + size }, time.now())
  assert.deepEqual(await paths(), [older, young, open])
  await removeOldSegments(folder, { days: 30, bytes: 9099 + size }, time.now())
  assert.deepEqual(await paths(), [young, open])
  await removeOldSegments(folder, { days: 1, bytes: 1 }, time.now())
  assert.deepEqual(await paths(), [open])
})
