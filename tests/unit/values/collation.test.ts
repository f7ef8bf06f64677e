// The order of strings: known examples, agreement with the runtime's collator for each script, and agreement of the
// comparison with the sort key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteWriter } from '../../../src/values/byte-writer.ts'
import { appendSortKey, compareStrings } from '../../../src/values/collation.ts'
import { asciiPrimaries, asciiTertiaries } from '../../../src/values/collation-ascii.ts'
import { collationVersion } from '../../../src/values/collation-data.ts'
import {
  CollationTable,
  entryKinds,
  indexOf,
  kindOf,
  packNumbers,
  rankOf,
  unpackNumbers,
} from '../../../src/values/collation-table.ts'
import { compareBytes } from '../../../src/values/order.ts'
import { fc } from '../../support/fast-check.ts'
import { texts } from '../../support/value-arbitraries.ts'

const intl = new Intl.Collator('und')

function sortKey(text: string): Uint8Array {
  const writer = new ByteWriter()
  appendSortKey(writer, text)
  writer.utf8(text)
  return writer.copy()
}

function assertAscending(strings: readonly string[]): void {
  for (let index = 1; index < strings.length; index++) {
    const [left, right] = [strings[index - 1] as string, strings[index] as string]
    assert.ok(compareStrings(left, right) < 0, `${JSON.stringify(left)} < ${JSON.stringify(right)}`)
    assert.ok(compareStrings(right, left) > 0, `${JSON.stringify(right)} > ${JSON.stringify(left)}`)
  }
}

test('strings sort by the collation', () => {
  assertAscending([...'_-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBzZ'])
  assertAscending(['', 'a', 'A', 'á', 'Á', 'ab', 'aB', 'Ab', 'AB', 'b'])
  assertAscending(['cote', 'coté', 'côte', 'côté'])
  assertAscending(['Masse', 'Maße', 'Massen', 'zebra', 'Ωmega', 'Ягода', 'あ', '中'])
  assertAscending(['10', '9', 'a b', 'a-b', 'ab'])
})

test('strings with equal weights sort by their bytes, shorter ones first', () => {
  assertAscending(['', '\0', '\0\0', '\u0001', 'a', 'a\0', 'a\0\0', 'a\u0001', 'a\u200d'])
  assertAscending(['a\u0301', 'á'])
  assertAscending(['\ud800', '\ud801', '\udfff', '\ue000', '\u{10ffff}'])
})

test('a prefix does not sort first where contractions prevent it', () => {
  assertAscending(['\u0e40\u0e01', '\u0e02', '\u0e40'])
})

const scripts: Record<string, readonly (readonly [number, number])[]> = {
  ASCII: [[0x20, 0x7e]],
  'Latin letters': [
    [0x41, 0x5a],
    [0x61, 0x7a],
    [0xc0, 0x24f],
  ],
  'Latin letters and marks': [
    [0x41, 0x44],
    [0x61, 0x64],
    [0x300, 0x36f],
  ],
  'more Latin': [
    [0x250, 0x2ff],
    [0x1e00, 0x1eff],
    [0xa0, 0xbf],
    [0x6c, 0x6c],
  ],
  Greek: [
    [0x370, 0x3ff],
    [0x1f00, 0x1fff],
  ],
  Cyrillic: [
    [0x400, 0x52f],
    [0x418, 0x438],
    [0x300, 0x32f],
  ],
  Hebrew: [
    [0x5d0, 0x5ea],
    [0x591, 0x5c7],
  ],
  Arabic: [
    [0x600, 0x6ff],
    [0x621, 0x65f],
  ],
  Devanagari: [[0x900, 0x97f]],
  'Bengali to Sinhala': [[0x980, 0xdff]],
  'Thai and Lao': [
    [0xe01, 0xe4e],
    [0xe81, 0xece],
  ],
  'Tibetan and Burmese': [[0xf00, 0x109f]],
  Hangul: [
    [0xac00, 0xd7a3],
    [0x1100, 0x11ff],
  ],
  Kana: [
    [0x3041, 0x30ff],
    [0xff61, 0xff9f],
  ],
  Han: [
    [0x4e00, 0x9fff],
    [0x3400, 0x4dbf],
    [0x20000, 0x2a6df],
    [0xf900, 0xfaff],
  ],
  'punctuation and symbols': [[0x2000, 0x23ff]],
  'compatibility characters': [
    [0x2460, 0x24ff],
    [0x3200, 0x33ff],
    [0xfb00, 0xfb06],
    [0xff00, 0xffef],
  ],
  'mathematical letters': [
    [0x1d400, 0x1d7ff],
    [0x61, 0x7a],
  ],
  emoji: [
    [0x1f300, 0x1faff],
    [0x1f1e6, 0x1f1ff],
  ],
  'every plane': [
    [0x0, 0x10ffff],
    [0x0, 0x1ffff],
  ],
}

function pairOfStrings(ranges: readonly (readonly [number, number])[]): fc.Arbitrary<[string, string]> {
  const character = fc.oneof(
    ...ranges.map(([min, max]) => fc.integer({ min, max }).map(point => String.fromCodePoint(point))),
  )
  const string = fc.array(character, { maxLength: 4 }).map(parts => parts.join(''))
  return fc.oneof(
    fc.tuple(string, string),
    fc
      .tuple(string, string, string, string)
      .map(([start, a, b, end]): [string, string] => [start + a + end, start + b + end]),
  )
}

for (const [name, ranges] of Object.entries(scripts)) {
  test(`sorts ${name} as the runtime's root collator does`, () => {
    fc.assert(
      fc.property(pairOfStrings(ranges), ([left, right]) => {
        const expected = Math.sign(intl.compare(left, right))
        if (expected !== 0) assert.equal(Math.sign(compareStrings(left, right)), expected)
      }),
      { numRuns: 1500 },
    )
  })
}

test('comparison and sort key agree', () => {
  fc.assert(
    fc.property(texts, texts, texts, (start, a, b) => {
      const [left, right] = [start + a, start + b]
      const order = Math.sign(compareStrings(left, right))
      assert.equal(order, Math.sign(compareBytes(sortKey(left), sortKey(right))))
      assert.equal(order === 0, left === right)
    }),
    { numRuns: 3000 },
  )
})

test('the fast path for ASCII has the weights of the table', () => {
  const table = new CollationTable()
  for (let point = 0; point < 0x80; point++) {
    const entry = table.entry(point)
    const isLetter = kindOf(entry) === entryKinds.letter
    const code = isLetter ? (table.primaryCodes[indexOf(entry)] as number) : 1 << 24
    assert.equal(code, (1 << 24) | (asciiPrimaries[point] as number))
    assert.equal(asciiTertiaries[point], 1 + (isLetter ? rankOf(entry) : 0))
  }
})

test('sort keys are part of the data format', () => {
  assert.equal(collationVersion, 1)
  const keys = ['Ab-1', 'ß', 'é', 'Ω', '中', '가', '\u{e000}'].map(text =>
    Buffer.from(sortKey(text)).toString('hex'),
  )
  assert.deepEqual(keys, [
    '696b0d5e00000b0041622d31',
    '8d8d0001f0100000c39f',
    '710001050000c3a9',
    '9c6c00000500cea9',
    'fa0d98000000e4b8ad',
    'bb02bb80000000eab080',
    'fd00e000000000ee8080',
  ])
})

test('a long text of marks that look like parts of contractions takes linear time', () => {
  const text = `\u0418${'\u0300'.repeat(50_000)}${'\u0627\u0650\u0654'.repeat(50_000)}`
  assert.ok(compareStrings(text, `${text}\u0306`) < 0)
})

test('packed numbers are unpacked unchanged', () => {
  const numbers = fc.array(fc.integer({ min: -(2 ** 25), max: 2 ** 25 }))
  fc.assert(
    fc.property(numbers, list =>
      assert.deepEqual(
        [...unpackNumbers(packNumbers(list))],
        list.map(n => n + 0),
      ),
    ),
  )
})
