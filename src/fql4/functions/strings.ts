// Functions on strings: concatenation, substrings, search, conversion of case. Lengths and offsets are numbers of code
// points.

import { longCall, step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { codePointLength, isPairAt, unitOffset } from '../../text/code-points.ts'
import { findText, indexOfText, TextSearch } from '../../text/text-search.ts'
import { titlecase } from '../../text/titlecase.ts'
import { casefold } from '../../values/casefold.ts'
import { mapKnown } from '../../values/known-characters.ts'
import { normalize } from '../../values/normalize.ts'
import type { Value } from '../../values/value.ts'
import { integer, list, scalar, string } from '../arguments.ts'
import { type ArgumentType, type Call, define, family, optional, unary } from '../definition.ts'
import { CountedText, countedText, countScan, countText } from '../value-limits.ts'
import { typeName } from '../values/tagged.ts'

const stringsLimits = {
  /** Maximum number of repetitions in a result of `Repeat` or `Space`. */
  stringRepeatMax: 1024,
} as const

/**
 * White space as in Java's Character.isWhitespace: without no-break spaces, and with the ASCII separators. Every white
 * space character is a single UTF-16 unit.
 */
function isWhitespace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 9 && unit <= 13) || (unit >= 0x1c && unit <= 0x1f)
  if (unit >= 0x2000 && unit <= 0x200a) return unit !== 0x2007
  return unit === 0x1680 || unit === 0x2028 || unit === 0x2029 || unit === 0x205f || unit === 0x3000
}

function trimStart(text: string): string {
  let start = 0
  while (start < text.length && isWhitespace(text.charCodeAt(start))) start++
  return text.slice(start)
}

function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && isWhitespace(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

const normalizers = ['NFKCCaseFold', 'NFC', 'NFD', 'NFKC', 'NFKD'] as const
type Normalizer = (typeof normalizers)[number]

const normalizer: ArgumentType<Normalizer> = {
  mode: 'value',
  name: 'String',
  check(value, call, key) {
    const found = normalizers.find(name => name === value)
    if (found) return found
    const names = "String 'NFKCCaseFold', 'NFC', 'NFD', 'NFKC', or 'NFKD'"
    throw call.invalid(msg`${names} expected, ${typeName(value)} provided.`, key)
  },
}

function substring(text: string, start: bigint, length: bigint | undefined, call: Call): string {
  const size = BigInt(codePointLength(text))
  const from = start < 0n ? size + start : start
  if (from < 0n || from > size) {
    throw call.invalid(msg`start must be less than or equal to the string length`)
  }
  if (length !== undefined && length < 0n) throw call.invalid(msg`length must be positive`)
  const first = unitOffset(text, Number(from))
  if (length === undefined || length >= size - from) return text.slice(first)
  return text.slice(first, unitOffset(text, Number(length), first))
}

function concat(strings: readonly string[], separator: string, call: Call): string {
  let units = separator.length * Math.max(0, strings.length - 1)
  for (const each of strings) units += each.length
  countText(call, units)
  return strings.join(separator)
}

function repeat(text: string, number: bigint, call: Call): string {
  const count = Number(number < 0n ? 0n : number > repeatMax ? repeatMax : number)
  countText(call, text.length * count)
  return text.repeat(count)
}

const repeatMax = BigInt(stringsLimits.stringRepeatMax)

function replaceText(text: string, find: string, replace: string, call: Call): string {
  const result = new CountedText(call)
  longCall(text.length)
  const search = new TextSearch(find)
  let from = 0
  for (let at = search.firstIn(text, 0); at >= 0; ) {
    result.add(text.slice(from, at))
    result.add(replace)
    from = at + find.length
    // An empty search text matches before and after each character.
    const next = find === '' ? at + (isPairAt(text, at) ? 2 : 1) : from
    at = next > text.length ? -1 : search.firstIn(text, next)
  }
  result.add(text.slice(from))
  return result.finish()
}

interface Sizes {
  readonly min: number
  readonly max: number
}

/**
 * The sizes may differ by at most one, so that the number of n-grams is linear in the length of the text. As in the
 * hosted service, `max` must be 2 if `min` is missing.
 */
function ngramSizes(givenMin: bigint | undefined, givenMax: bigint | undefined, call: Call): Sizes {
  const min = givenMin ?? 1n
  const max = givenMax ?? 2n
  if (givenMin === undefined && max < 2n) throw call.invalid(msg`max ngram size must be > 0 and >= min`)
  if (min < 1n || min > max) throw call.invalid(msg`min ngram size must be > 0 and <= max`)
  if (max > min + 1n) throw call.invalid(msg`max ngram size must be <= min + 1`)
  const bound = BigInt(limits.textUnitsMax)
  return { min: Number(min < bound ? min : bound), max: Number(max < bound ? max : bound) }
}

function ngrams(text: string, { max, min }: Sizes, call: Call): string[] {
  longCall(text.length)
  const offsets: number[] = []
  for (let at = 0; at < text.length; at += isPairAt(text, at) ? 2 : 1) offsets.push(at)
  const length = offsets.length
  offsets.push(text.length)
  const grams: string[] = []
  for (let first = 0; first < length; first++) {
    step()
    for (let size = min; size <= max && first + size <= length; size++) {
      grams.push(countedText(call, text.slice(offsets[first], offsets[first + size])))
    }
  }
  return grams
}

function mapping(
  name: string,
  summary: string,
  example: readonly [string, string],
  map: (text: string) => string,
) {
  return unary(name, string, {
    result: 'String',
    summary,
    example: [JSON.stringify(example[0]), JSON.stringify(example[1])],
    evaluate(text, call) {
      longCall(text.length)
      return countedText(call, map(text))
    },
  })
}

function search(
  name: string,
  summary: string,
  example: readonly [string, string],
  matches: (text: string, searched: string) => boolean,
) {
  return define({
    arguments: { [name]: string, search: string },
    result: 'Boolean',
    summary,
    example: [JSON.stringify({ [name]: example[0], search: example[1] }), 'true'],
    evaluate(args, call) {
      const text = args[name] as string
      countScan(call, text.length)
      return matches(text, args.search as string)
    },
  })
}

const normalizations: Record<Normalizer, (text: string) => string> = {
  NFKCCaseFold: casefold,
  NFC: text => mapKnown(text, known => normalize(known, 'NFC')),
  NFD: text => mapKnown(text, known => normalize(known, 'NFD')),
  NFKC: text => mapKnown(text, known => normalize(known, 'NFKC')),
  NFKD: text => mapKnown(text, known => normalize(known, 'NFKD')),
}

export const strings = family('Strings', [
  define({
    arguments: { concat: list(string), separator: optional(string) },
    result: 'String',
    summary:
      'Joins the strings `concat` into one string, with `separator` between them. If `separator` is missing, the strings follow each other directly.',
    example: ['{"concat": ["fire", "ice"], "separator": " and "}', '"fire and ice"'],
    evaluate: (args, call) => concat(args.concat, args.separator ?? '', call),
  }),
  define({
    arguments: { ngram: list(scalar), min: optional(integer), max: optional(integer) },
    result: 'Array',
    summary:
      'Returns all substrings with a length from `min` (default 1) to `max` (default 2) of one or more strings. `max` is at most `min` + 1; values that are not strings are returned unchanged.',
    example: ['{"ngram": "fire", "min": 2, "max": 3}', '["fi", "fir", "ir", "ire", "re"]'],
    evaluate(args, call) {
      const sizes = ngramSizes(args.min, args.max, call)
      return args.ngram.flatMap((term): readonly Value[] =>
        typeof term === 'string' ? ngrams(term, sizes, call) : [term],
      )
    },
  }),
  define({
    arguments: { repeat: string, number: optional(integer) },
    result: 'String',
    summary: `Repeats a string \`number\` times, or twice if \`number\` is missing. A \`number\` above ${stringsLimits.stringRepeatMax} counts as ${stringsLimits.stringRepeatMax}.`,
    example: ['{"repeat": "ha", "number": 3}', '"hahaha"'],
    evaluate: (args, call) => repeat(args.repeat, args.number ?? 2n, call),
  }),
  define({
    arguments: { replacestr: string, find: string, replace: string },
    result: 'String',
    summary: 'Replaces every occurrence of `find` in the string `replacestr` with `replace`.',
    example: ['{"replacestr": "fire, fire", "find": "fire", "replace": "ice"}', '"ice, ice"'],
    evaluate: (args, call) => replaceText(args.replacestr, args.find, args.replace, call),
  }),
  unary('space', integer, {
    result: 'String',
    summary: `Returns a string with the given number of spaces, at most ${stringsLimits.stringRepeatMax}.`,
    example: ['3', '"   "'],
    evaluate: (count, call) => repeat(' ', count, call),
  }),
  define({
    arguments: { substring: string, start: optional(integer), length: optional(integer) },
    result: 'String',
    summary:
      'Returns `length` code points of a string from the position `start` (default 0), or all code points from there if `length` is missing. A negative `start` counts from the end; a `start` outside of the string is an error.',
    example: ['{"substring": "fireball", "start": -4, "length": 2}', '"ba"'],
    evaluate(args, call) {
      countScan(call, args.substring.length)
      return substring(args.substring, args.start ?? 0n, args.length, call)
    },
  }),
  search(
    'containsstr',
    'True if the string `containsstr` contains the string `search`.',
    ['fireball', 'ball'],
    (text, searched) => indexOfText(text, searched) >= 0,
  ),
  search(
    'startswith',
    'True if the string `startswith` begins with the string `search`.',
    ['fireball', 'fire'],
    (text, searched) => text.startsWith(searched),
  ),
  search(
    'endswith',
    'True if the string `endswith` ends with the string `search`.',
    ['fireball', 'ball'],
    (text, searched) => text.endsWith(searched),
  ),
  define({
    arguments: { findstr: string, find: string, start: optional(integer) },
    result: 'Integer',
    summary:
      'Returns the position of the first occurrence of `find` in the string `findstr`, or -1 if there is none. The search begins at `start`, or at 0 if `start` is missing or outside of the string.',
    example: ['{"findstr": "fireball", "find": "ball"}', '4'],
    evaluate(args, call) {
      countScan(call, args.findstr.length)
      return BigInt(findText(args.findstr, args.find, args.start))
    },
  }),
  unary('length', string, {
    result: 'Integer',
    summary: 'Returns the length of a string in Unicode code points.',
    example: ['"fire"', '4'],
    evaluate(text, call) {
      countScan(call, text.length)
      return BigInt(codePointLength(text))
    },
  }),
  define({
    arguments: { casefold: list(scalar), normalizer: optional(normalizer) },
    result: 'String or Array',
    summary:
      'Converts one or more strings to a form for comparisons that ignore case. `normalizer` can select another Unicode form, such as `NFC`; values that are not strings are returned unchanged.',
    example: ['{"casefold": "Weißkopf"}', '"weisskopf"'],
    evaluate(args, call) {
      const fold = normalizations[args.normalizer ?? 'NFKCCaseFold']
      const folded = args.casefold.map(term =>
        typeof term === 'string' ? countedText(call, fold(term)) : term,
      )
      return folded.length === 1 ? (folded[0] as Value) : folded
    },
  }),
  mapping('lowercase', 'Converts a string to lower case.', ['Fire', 'fire'], text =>
    mapKnown(text, known => known.toLowerCase()),
  ),
  mapping('uppercase', 'Converts a string to upper case.', ['Fire', 'FIRE'], text =>
    mapKnown(text, known => known.toUpperCase()),
  ),
  mapping(
    'titlecase',
    'Capitalizes the first letter of each word and converts all other letters to lower case.',
    ['fire and ICE', 'Fire And Ice'],
    titlecase,
  ),
  mapping('trim', 'Removes white space from both ends of a string.', [' fire ', 'fire'], text =>
    trimStart(trimEnd(text)),
  ),
  mapping('ltrim', 'Removes white space from the start of a string.', [' fire ', 'fire '], trimStart),
  mapping('rtrim', 'Removes white space from the end of a string.', [' fire ', ' fire'], trimEnd),
])
