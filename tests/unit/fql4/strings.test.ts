// Strings in the language, beyond the conformance cases, compared with arrays of code points.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../../src/base/limits.ts'
import { RequestError } from '../../../src/base/request-errors.ts'
import { titleForm } from '../../../src/text/titlecase.ts'
import { casefold } from '../../../src/values/casefold.ts'
import { assertError, errorOf, evaluatePure } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'

/** Repetitive texts, so that searches succeed, and with characters of two units. */
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '中', '𐐀', '😀'), maxLength: 20 })
const offsets = fc.integer({ min: -25, max: 25 })

const bigEnough = 'x'.repeat(1024)

describe('code points', () => {
  test('length', () => {
    fc.assert(
      fc.property(texts, text => {
        assert.equal(evaluatePure({ length: text }), BigInt([...text].length))
      }),
    )
  })

  test('substring cuts like an array of code points', () => {
    fc.assert(
      fc.property(texts, offsets, fc.nat(25), (text, start, length) => {
        const points = [...text]
        const from = start < 0 ? points.length + start : start
        const query = { substring: text, start, length }
        if (from < 0 || from > points.length) {
          assertError(query, 'invalid argument', 'start must be less than or equal to the string length', [])
        } else {
          assert.equal(evaluatePure(query), points.slice(from, from + length).join(''))
        }
      }),
    )
  })

  test('findstr agrees with an array of code points', () => {
    fc.assert(
      fc.property(
        texts,
        fc.string({ unit: fc.constantFrom('a', '𐐀', 'é'), maxLength: 2 }),
        offsets,
        (text, find, start) => {
          const points = [...text]
          const wanted = [...find]
          const from = start < 0 || start >= points.length ? 0 : start
          const found = points.findIndex(
            (_point, at) => at >= from && wanted.every((each, index) => points[at + index] === each),
          )
          // The empty string is found at the very end as well.
          const expected = found < 0 && find === '' ? from : found
          assert.equal(evaluatePure({ findstr: text, find, start }), BigInt(expected))
        },
      ),
    )
  })

  test('findstr from a negative or too large start begins at the front', () => {
    for (const start of ['-1', '3', '9223372036854775807', '-9223372036854775808']) {
      assert.equal(evaluatePure(`{"findstr": "aba", "find": "a", "start": ${start}}`), 0n)
    }
    assert.equal(evaluatePure({ findstr: 'aba', find: 'a', start: 2 }), 2n)
  })

  test('substring: lengths beyond the end are cut, negative ones rejected', () => {
    assert.equal(evaluatePure('{"substring": "𐐀b", "start": 1, "length": 9223372036854775807}'), 'b')
    assert.equal(evaluatePure({ substring: '𐐀b', start: 2 }), '')
    assert.equal(evaluatePure({ substring: 'ab', length: 0 }), '')
    assert.equal(errorOf({ substring: 'ab', length: -1 }).description, 'length must be positive')
    const early = errorOf({ substring: 'ab', start: -3 }).description
    assert.equal(early, 'start must be less than or equal to the string length')
  })

  test('ngram returns pieces of whole code points', () => {
    assert.deepEqual(evaluatePure({ ngram: '𐐀b😀' }), ['𐐀', '𐐀b', 'b', 'b😀', '😀'])
    assert.deepEqual(evaluatePure({ ngram: ['ab', 5, ''], min: 2, max: 2 }), ['ab', 5n])
  })

  test('ngram rejects sizes out of order, too far apart or below one', () => {
    const description = (min: number | undefined, max: number | undefined) => {
      const error = errorOf({
        ngram: 'x',
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
      })
      assert.deepEqual(error.position, [])
      return error.description
    }
    assert.equal(description(0, 1), 'min ngram size must be > 0 and <= max')
    assert.equal(description(3, 2), 'min ngram size must be > 0 and <= max')
    assert.equal(description(1, 3), 'max ngram size must be <= min + 1')
    assert.equal(description(3, undefined), 'min ngram size must be > 0 and <= max')
    assert.equal(description(undefined, 1), 'max ngram size must be > 0 and >= min')
    assert.equal(description(undefined, 3), 'max ngram size must be <= min + 1')
  })
})

describe('replacestr', () => {
  test('replaces like String.prototype.replaceAll', () => {
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom('a', 'ab', '𐐀', 'aa'),
        fc.constantFrom('', 'a', '$&', 'xyz'),
        (text, find, replace) => {
          const expected = text.replaceAll(find, () => replace)
          assert.equal(evaluatePure({ replacestr: text, find, replace }), expected)
        },
      ),
    )
  })

  test('the empty string is found around each character', () => {
    assert.equal(evaluatePure({ replacestr: 'a𐐀', find: '', replace: '-' }), '-a-𐐀-')
    assert.equal(evaluatePure({ replacestr: '', find: '', replace: '-' }), '-')
  })
})

describe('white space', () => {
  const java = '\t\n\v\f\r\x1c\x1d\x1e\x1f \u1680\u2000\u2006\u2008\u200a\u2028\u2029\u205f\u3000'

  test('is defined as in Java', () => {
    assert.equal(evaluatePure({ trim: `${java}x${java}` }), 'x')
    assert.equal(evaluatePure({ ltrim: `${java}x${java}` }), `x${java}`)
    assert.equal(evaluatePure({ rtrim: `${java}x${java}` }), `${java}x`)
  })

  test('excludes the no-break space and invisible characters', () => {
    for (const character of ['\u00a0', '\u2007', '\u202f', '\ufeff', '\u200b', '\u180e', '\u0085', '\0']) {
      assert.equal(evaluatePure({ trim: `${character}x${character}` }), `${character}x${character}`)
    }
  })
})

describe('case', () => {
  test('mappings change the length and depend on neighbours', () => {
    assert.equal(evaluatePure({ uppercase: 'straße ŉ' }), 'STRASSE ʼN')
    assert.equal(evaluatePure({ lowercase: 'ΟΔΥΣΣΕΥΣ İ' }), 'οδυσσευς i̇')
  })

  test('titlecase begins each word with its title form', () => {
    const cases: Record<string, string> = {
      'fire and ICE': 'Fire And Ice',
      "don't STOP-me": "Don't Stop-Me",
      '"quoted" (word)': '"Quoted" (Word)',
      'ǆemal ǇUBAV': 'ǅemal ǈubav',
      'ßtart ﬁn': 'Sstart Fin',
      'ΣΟΦΟΣ ὈΔΥΣΣΕΎΣ': 'Σοφος Ὀδυσσεύς',
      '3rd 𐐨𐐀': '3rd 𐐀𐐨',
      ქართული: 'ქართული',
      '': '',
    }
    for (const [text, titled] of Object.entries(cases))
      assert.equal(evaluatePure({ titlecase: text }), titled)
  })

  test('title forms of letters with more than one', () => {
    const forms: Record<string, string> = {
      ŉ: 'ʼN',
      և: 'Եւ',
      ᾳ: 'ᾼ',
      ᾲ: 'Ὰ\u0345',
      ᾷ: 'Α\u0342\u0345',
      ﬃ: 'Ffi',
    }
    for (const [letter, title] of Object.entries(forms)) assert.equal(titleForm(letter), title)
  })

  test('casefold follows the standard where lower case does not', () => {
    const cases: Record<string, string> = {
      ß: 'ss',
      ẞ: 'ss',
      ς: 'σ',
      İ: 'i̇',
      ı: 'ı',
      ﬃ: 'ffi',
      Ａ: 'a',
      '①': '1',
      'a\u00adb': 'ab',
      'a\u034f\u0301': 'á',
      ꭰ: 'Ꭰ',
      ᏸ: 'Ᏸ',
      'α\u0345\u0301': 'αί',
      '\ufdfa': 'صلى الله عليه وسلم',
    }
    for (const [text, folded] of Object.entries(cases)) assert.equal(casefold(text), folded)
  })

  test('casefold returns the same for a cached text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), text => {
        const folded = casefold(text)
        assert.equal(casefold(folded), folded)
        assert.equal(folded.normalize('NFC'), folded)
      }),
    )
  })

  test('casefold to a normal form', () => {
    assert.equal(evaluatePure({ casefold: 'Å', normalizer: 'NFD' }), 'A\u030a')
    assertError(
      { casefold: 'x', normalizer: 'nfc' },
      'invalid argument',
      "String 'NFKCCaseFold', 'NFC', 'NFD', 'NFKC', or 'NFKD' expected, String provided.",
      ['normalizer'],
    )
  })
})

describe('arguments', () => {
  test('repeat and space accept numbers within their limits', () => {
    assert.equal(evaluatePure({ repeat: 'ab' }), 'abab')
    assert.equal(evaluatePure('{"repeat": "ab", "number": -9223372036854775808}'), '')
    assert.equal(evaluatePure('{"length": {"space": 9223372036854775807}}'), 1024n)
  })
})

describe('limits', () => {
  const tooMuch = (query: object) => {
    assert.throws(
      () => evaluatePure(query),
      (error: unknown) => {
        assert.ok(error instanceof RequestError)
        assert.equal(error.code, 'bad request')
        assert.match(error.description, /^Transaction makes too much text: got \d+, limit: \d+$/)
        return true
      },
    )
  }
  const mebi = { repeat: { repeat: bigEnough, number: 1024 }, number: 1 }

  test('a text that keeps growing fails', () => {
    const eight = { repeat: mebi, number: 8 }
    assert.equal(evaluatePure({ length: eight }), BigInt(limits.textUnitsMax))
    tooMuch({ length: { concat: [eight, 'x'] } })
    tooMuch({ repeat: mebi, number: 9 })
    tooMuch({ replacestr: mebi, find: 'x', replace: 'xxxxxxxxx' })
    tooMuch({ replacestrregex: mebi, pattern: 'x', replace: '$0$0$0$0$0$0$0$0$0' })
    tooMuch({ format: '%20000000s', values: ['x'] })
    tooMuch({ format: '%.20000000f', values: [1.5] })
  })

  test('a query that creates many long texts fails', () => {
    const long = { length: { repeat: { var: 'mebi' }, number: 8 } }
    tooMuch({ let: [{ mebi }], in: Array.from({ length: 9 }, () => long) })
  })

  test('many pieces of a long text fail', () => {
    tooMuch({ ngram: { repeat: bigEnough, number: 16 }, min: 8192, max: 8193 })
  })
})
