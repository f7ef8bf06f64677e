// Case folding, by the kinds of characters for which plain lower-casing is wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casefold } from '../../../src/values/casefold.ts'
import { isKnownCharacter, mapKnown } from '../../../src/values/known-characters.ts'

const cases: readonly (readonly [name: string, text: string, folded: string])[] = [
  ['ASCII', 'Hello World', 'hello world'],
  ['the sharp s and its capital', 'Straße STRASSE ẞ', 'strasse strasse ss'],
  ['every sigma', 'ΣΊΣΥΦΟΣ ς', 'σίσυφοσ σ'],
  ['ligatures and full width', 'ﬁ ＡＢＣ', 'fi abc'],
  ['the dotted and the dotless i', 'İ ı I', 'i̇ ı i'],
  ['Cherokee to its capitals', 'ꭰ Ꭰ', 'Ꭰ Ꭰ'],
  ['iota subscripts', 'ᾳ ᾈ', 'αι ἀι'],
  ['default ignorables', 'a\u00adb\u200dc', 'abc'],
  ['compatibility forms', '① ℌ Å', '1 h å'],
]

for (const [name, text, folded] of cases) {
  test(`case folding: ${name}`, () => {
    assert.equal(casefold(text), folded)
    assert.equal(casefold(folded), folded)
  })
}

test('the table contains the characters of its Unicode version, and a newer runtime adds none', () => {
  for (const known of [0x41, 0x378 - 1, 0x391, 0x4e00, 0x1f600, 0x10ffff - 2])
    assert.ok(isKnownCharacter(known))
  for (const unknown of [0x378, 0x38b, 0x2fe0, 0xe0000, 0x10ffff]) assert.ok(!isKnownCharacter(unknown))
  for (let point = 0; point < 0x110000; point++) {
    if (point >= 0xd800 && point < 0xe000) continue
    if (isKnownCharacter(point)) assert.match(String.fromCodePoint(point), /\p{Assigned}/u)
  }
})

test('characters newer than the table are not folded, and separate the text around them', () => {
  const newer = '\u{378}'
  assert.equal(casefold(`ÀB${newer}ＡB`), `àb${newer}ab`)
  // A mark after such a character is not composed with anything.
  assert.equal(casefold(`E${newer}\u0301`), `e${newer}\u0301`)
})

test('other mappings treat newer characters alike, and no character becomes a newer one', () => {
  const upper = (text: string) => text.toUpperCase()
  assert.equal(mapKnown('straße', upper), 'STRASSE')
  assert.equal(mapKnown('a\u{378}b', upper), 'A\u{378}B')
  // Simulates a runtime in which the letter q got a capital later than the table.
  const later = (text: string) => text.toUpperCase().replaceAll('Q', '\u{378}')
  assert.equal(mapKnown('aqb', later), 'AqB')
})
