// Search patterns: agreement with recorded results of java.util.regex (JDK 17) for both engines, rejection of
// unsupported features, replacements, and limits on everything that a client may send.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { RequestError } from '../../../src/base/request-errors.ts'
import { compilePattern, type Match } from '../../../src/text/regex/compiled-pattern.ts'
import { RegexSyntaxError } from '../../../src/text/regex/pattern-errors.ts'
import { asOfKnown, propertyNamed } from '../../../src/text/regex/unicode-property.ts'
import { isKnownCharacter } from '../../../src/values/known-characters.ts'
import { assertError, errorOf, evaluatePure, pureSession } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'

/** Pattern, text, and the groups of each match; null where Java rejects the pattern. */
type Recorded = readonly [pattern: string, text: string, matches: (string | null)[][] | null]

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('java-patterns.json', import.meta.url), 'utf8'),
)

/** Pattern, text, start, end and groups of each match (null where Java rejects the pattern), replacement, result. */
type RecordedBacktracking = readonly [
  pattern: string,
  text: string,
  matches: readonly [start: number, end: number, ...groups: (string | null)[]][] | null,
  replacement: string,
  replaced: string | null,
]

const recordedBacktracking: readonly RecordedBacktracking[] = JSON.parse(
  readFileSync(new URL('java-backtracking.json', import.meta.url), 'utf8'),
)

const contains = (text: string, pattern: string) =>
  evaluatePure({ containsstrregex: text, pattern }) as boolean
const replace = (text: string, pattern: string, replacement: string) =>
  evaluatePure({ replacestrregex: text, pattern, replace: replacement })
const find = (text: string, pattern: string, options = {}) =>
  (evaluatePure({ findstrregex: text, pattern, ...options }) as ReadonlyMap<string, unknown>[]).map(found =>
    Object.fromEntries(found),
  )

const groupsOf = (match: Match, groupCount: number) =>
  Array.from({ length: groupCount + 1 }, (_, group) => match.group(group))

describe('patterns', () => {
  test('match as in Java', () => {
    for (const [pattern, text, expected] of recorded) {
      if (expected === null) {
        assert.throws(() => compilePattern(pattern), RegexSyntaxError, pattern)
        continue
      }
      const compiled = compilePattern(pattern)
      const found: string[][] = []
      for (const match of compiled.search(text).matches) found.push(groupsOf(match, compiled.groupCount))
      const wanted = expected.map(groups => groups.map(group => group ?? ''))
      const shown = `/${pattern}/ in ${JSON.stringify(text)}`
      assert.deepEqual(found, wanted, shown)
      assert.equal(contains(text, pattern), expected.length > 0, shown)
    }
  })

  test('that need backtracking match and replace as in Java', () => {
    for (const [pattern, text, expected, replacement, replaced] of recordedBacktracking) {
      const shown = `/${pattern}/ in ${JSON.stringify(text)}`
      if (expected === null) {
        assert.throws(() => compilePattern(pattern), RegexSyntaxError, shown)
        continue
      }
      const compiled = compilePattern(pattern)
      const found: (string | number)[][] = []
      for (const match of compiled.search(text).matches) {
        found.push([match.start, match.end, ...groupsOf(match, compiled.groupCount)])
      }
      const wanted = expected.map(parts => parts.map(part => part ?? ''))
      assert.deepEqual(found, wanted, shown)
      assert.equal(contains(text, pattern), expected.length > 0, shown)
      assert.equal(replace(text, pattern, replacement), replaced, shown)
    }
  })

  test('use the backtracking engine only when they need it', () => {
    const linear = (pattern: string, text = 'text') => compilePattern(pattern).isLinearOn(text)
    assert.equal(linear('^(a+)+$'), true)
    assert.equal(linear('^(a+)+$', 'text\n'), false)
    assert.equal(linear('\\bx'), true)
    assert.equal(linear('\\bx', 'tëxt'), false)
    assert.equal(linear('(?m)^x', 'a\nb'), true)
    assert.equal(linear('(?m)^x', 'a\r\nb'), false)
    assert.equal(linear('(?<=a)b'), true)
    for (const pattern of ['(?=a)', '(a)\\1', 'a*+', '(?>a)', '(?<=(a))b', '\\G', 'a{1001}', '(a{50}){30}']) {
      assert.equal(linear(pattern), false, pattern)
    }
  })

  test('that are invalid are reported by name', () => {
    assertError(
      { containsstrregex: 'x', pattern: '(' },
      'invalid argument',
      'Search pattern /(/ is not a valid regular expression.',
      ['pattern'],
    )
  })

  test('with unsupported features are rejected by the name of the feature', () => {
    const unsupported: Record<string, string> = {
      '\\X': 'grapheme clusters (\\X)',
      '\\b{g}': 'grapheme boundaries (\\b{g})',
      '\\N{DIGIT ONE}': 'character names (\\N{…})',
      '\\p{InGreek}': 'Unicode blocks (\\p{In…})',
    }
    for (const [pattern, feature] of Object.entries(unsupported)) {
      assertError(
        { findstrregex: 'x', pattern },
        'invalid argument',
        `Search pattern /${pattern}/ uses ${feature}, which is not supported.`,
        ['pattern'],
      )
    }
  })

  test('are rejected before other arguments are checked', () => {
    assert.deepEqual(errorOf({ findstrregex: 'x', pattern: '(', start: 'y' }).position, ['pattern'])
    assert.deepEqual(errorOf({ findstrregex: 1, pattern: '(' }).position, ['findstrregex'])
  })

  test('look behind', () => {
    assert.equal(replace('price: $12, €34', '(?<=€)\\d+', 'x'), 'price: $12, €x')
    assert.equal(replace('a1 b2', '(?<!a)\\d', 'x'), 'a1 bx')
  })

  test('of escaped text match only that text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ maxLength: 3 }), (text, more) => {
        const pattern = `^${evaluatePure({ regexescape: text })}$`
        assert.equal(contains(text, pattern), true)
        if (more !== '') assert.equal(contains(text + more, pattern), false)
      }),
    )
    assert.equal(evaluatePure({ regexescape: 'a\\Eb' }), '\\Qa\\E\\\\E\\Qb\\E')
  })

  test('of any text are compiled or rejected', () => {
    const parts = fc.constantFrom(...'()[]{}*+?\\^$|-a1,<=!:pQEux#𐐀', '&&', '(?')
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), pieces => {
        const pattern = pieces.join('')
        try {
          contains('a1-𐐀', pattern)
        } catch {
          assert.deepEqual(errorOf({ containsstrregex: 'a1-𐐀', pattern }).position, ['pattern'])
        }
      }),
    )
  })
})

describe('findstrregex', () => {
  test('counts code points and ends with the last character', () => {
    assert.deepEqual(find('𐐀a𐐀bb', '[𐐀b]+'), [
      { start: 0n, end: 0n, data: '𐐀' },
      { start: 2n, end: 4n, data: '𐐀bb' },
    ])
    assert.deepEqual(find('a𐐀', 'x*'), [
      { start: 0n, end: 0n, data: '' },
      { start: 1n, end: 1n, data: '' },
      { start: 2n, end: 2n, data: '' },
    ])
  })

  test('searches only from its start on', () => {
    assert.deepEqual(find('aba', '^a', { start: 2 }), [{ start: 2n, end: 2n, data: 'a' }])
    assert.deepEqual(find('aba', '(?<=b)a', { start: 2 }), [])
    assert.deepEqual(find('aba', 'a', { start: 3 }).length, 2)
    assert.deepEqual(find('aba', 'a', { start: -1 }).length, 2)
  })

  test('returns as many results as requested, at most 1024', () => {
    const text = { repeat: 'a', number: 1024 }
    const count = (options: object) =>
      (evaluatePure({ findstrregex: { concat: [text, text] }, pattern: 'a', ...options }) as unknown[]).length
    assert.equal(count({}), 1024)
    assert.equal(count({ num_results: 5000 }), 1024)
    assert.equal(count({ num_results: 3 }), 3)
    assert.equal(count({ num_results: 0 }), 0)
    assert.equal(count({ num_results: -1 }), 0)
  })
})

describe('replacestrregex', () => {
  test('inserts groups by number and by name', () => {
    assert.equal(replace('ab', '(a)(b)', '$2$1$0'), 'baab')
    assert.equal(replace('ab', '(?<first>a)(?<last>b)', `\${last}-\${first}`), 'b-a')
    assert.equal(replace('ab', '(a)(x)?b', '[$2]'), '[]')
    assert.equal(replace('ab', '(a)b', '$10'), 'a0')
    assert.equal(replace('a', 'a', '\\$1\\\\'), '$1\\')
    assert.equal(replace('aXa', 'a', '$0$0'), 'aaXaa')
    assert.equal(replace('a𐐀', '', '-'), '-a-𐐀-')
  })

  test('rejects groups that do not exist, once something matches', () => {
    const rejected = (replacement: string) => {
      const error = errorOf({ replacestrregex: 'a', pattern: '(?<n>a)', replace: replacement })
      assert.deepEqual(error.position, ['replace'])
      assert.equal(error.code, 'invalid argument')
      return error.description
    }
    assert.equal(rejected('$2'), 'Replacement text names the group 2, which the pattern lacks.')
    assert.equal(rejected(`\${m}`), "Replacement text names the group 'm', which the pattern lacks.")
    assert.equal(rejected('$'), 'Replacement text has no group behind $.')
    assert.equal(rejected('$x'), 'Replacement text has no group behind $.')
    assert.equal(rejected(`\${n`), 'Replacement text has no name of a group behind ${.')
    assert.equal(rejected('x\\'), 'Replacement text ends with a backslash.')
    assert.equal(replace('b', 'a', '$2'), 'b')
  })

  test('replaces only the first match', () => {
    assert.equal(evaluatePure({ replacestrregex: 'aaa', pattern: 'a', replace: 'b', first: true }), 'baa')
  })
})

describe('limits', () => {
  const refusedFor = (pattern: string, feature: string) => {
    const { description } = errorOf({ containsstrregex: 'x', pattern })
    assert.ok(description.endsWith(`uses ${feature}, which is not supported.`), description)
  }

  test('patterns that would grow without limit are rejected', () => {
    refusedFor('a'.repeat(10_001), 'more than 10000 characters')
    refusedFor('\\pL'.repeat(3000), 'more than fits in a compiled pattern')
    refusedFor('('.repeat(5000), 'groups nested so deeply')
    refusedFor('['.repeat(5000), 'character classes nested so deeply')
    refusedFor(`[a${'&&a'.repeat(2000)}]`, 'so many intersections')
  })

  test('nested repetition takes linear time', () => {
    const text = { repeat: { repeat: 'a', number: 1024 }, number: 64 }
    assert.equal(evaluatePure({ containsstrregex: text, pattern: '^(a+)+$' }), true)
    assert.equal(evaluatePure({ containsstrregex: { concat: [text, 'b'] }, pattern: '^(a+)+$' }), false)
    assert.equal(evaluatePure({ containsstrregex: text, pattern: '(a|aa)+c|(x+x+)+y' }), false)
  })

  test('counts that RE2 would expand do not make a pattern larger', () => {
    assert.ok(compilePattern('x{1000}'.repeat(20)).size < 100)
    assert.equal(contains('x'.repeat(9999), '^((x{100}){10}){10}'), false)
    assert.equal(contains('x'.repeat(10_000), '((x{100}){10}){10}'), true)
  })

  test('a match with too many steps fails at the position of the pattern', () => {
    const text = `${'a'.repeat(40)}b`
    for (const pattern of [
      '(?=a)(a+)+$',
      '(a|aa)+\\1$',
      '(?<=(.*.*.*.*.*.*))c',
      '(?:(?:){1000000000}){3}+',
    ]) {
      assertError(
        { containsstrregex: text.repeat(20), pattern },
        'invalid argument',
        'Search pattern takes too many steps in this text.',
        ['pattern'],
      )
    }
    assert.equal(replace(text, '(?=(a+))\\1+$', 'x'), text)
  })

  test('backtracking does not depend on the length of the text', () => {
    const text = { repeat: { repeat: 'ab', number: 1024 }, number: 128 }
    assert.equal(evaluatePure({ containsstrregex: text, pattern: '^(?=a)(?:a|b)*c' }), false)
  })

  test('steps of backtracking count as compute', () => {
    const session = pureSession()
    const text = { repeat: { repeat: 'a', number: 1024 }, number: 256 }
    evaluatePure({ containsstrregex: text, pattern: '(?!a)b' }, { session })
    assert.ok(session.computeOps > 1, String(session.computeOps))
  })

  test('a search that could take too long is rejected', () => {
    const text = { repeat: { repeat: 'a', number: 1024 }, number: 1024 }
    assert.throws(
      () => evaluatePure({ containsstrregex: text, pattern: '[ab]{900}c' }),
      (error: unknown) =>
        error instanceof RequestError && /^Search takes too many steps/.test(error.description),
    )
  })

  test('searches of long texts count as compute', () => {
    const session = pureSession()
    const text = { repeat: { repeat: 'a', number: 1024 }, number: 1024 }
    evaluatePure({ containsstrregex: text, pattern: 'b' }, { session })
    assert.ok(session.computeOps > 5, String(session.computeOps))
  })
})

describe('properties of characters', () => {
  test('characters newer than the stored tables count as unassigned', () => {
    const letters = [0x41, 0x5a, 0x378, 0x379]
    const unassigned = [0x1f0000, 0x1fffff]
    const newer = [0x379, 0x379]
    assert.deepEqual(asOfKnown('\\p{L}', letters, newer), [0x41, 0x5a, 0x378, 0x378])
    assert.deepEqual(asOfKnown('\\p{Cn}', unassigned, newer), [0x379, 0x379, ...unassigned])
    assert.deepEqual(asOfKnown('\\p{L}', letters, []), letters)
  })

  test('no property of any known runtime contains a newer character', () => {
    for (const name of ['L', 'N', 'S', 'M', 'IsAlphabetic', 'IsEmoji', 'javaDefined', 'javaLetterOrDigit']) {
      const ranges = propertyNamed(name) as readonly number[]
      for (let index = 0; index < ranges.length; index += 2)
        for (let point = ranges[index] as number; point <= (ranges[index + 1] as number); point++)
          assert.ok(isKnownCharacter(point), `${name} holds ${point.toString(16)}`)
    }
  })
})
