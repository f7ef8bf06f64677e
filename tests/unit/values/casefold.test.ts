// Case folding, by the kinds of characters that plain lower case gets wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casefold } from '../../../src/values/casefold.ts'

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
