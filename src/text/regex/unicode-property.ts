// The character properties `\p{…}` in patterns. To find the characters with a Unicode property, a JavaScript RegExp is
// run over all code points. Indexes can store the results of matches, so results must not change with newer Unicode
// versions. Therefore, characters that are newer than the project's Unicode tables are treated as unassigned
// (docs/decisions/0030-known-characters.md).

import { step } from '../../base/effort.ts'
import { knownRanges } from '../../values/known-characters.ts'
import { type CodePointSet, complement, intersection, setOf } from './code-point-set.ts'

const range = (from: string, to: string) => [from.charCodeAt(0), to.charCodeAt(0)]
const digits = range('0', '9')
const lower = range('a', 'z')
const upper = range('A', 'Z')
const punctuation = [...range('!', '/'), ...range(':', '@'), ...range('[', '`'), ...range('{', '~')]

/** Java's classes that consist of a few ranges. The names are case-sensitive. */
const asciiClasses = new Map<string, CodePointSet>(
  Object.entries({
    ASCII: [0, 0x7f],
    Alnum: [...digits, ...upper, ...lower],
    Alpha: [...upper, ...lower],
    Blank: [9, 9, 0x20, 0x20],
    Cntrl: [0, 0x1f, 0x7f, 0x7f],
    Digit: digits,
    Graph: range('!', '~'),
    L1: [0, 0xff],
    Lower: lower,
    Print: range(' ', '~'),
    Punct: punctuation,
    Space: [9, 13, 0x20, 0x20],
    Upper: upper,
    XDigit: [...digits, ...range('A', 'F'), ...range('a', 'f')],
    all: [0, 0x10ffff],
  }).map(([name, ranges]) => [name, setOf(ranges)]),
)

/**
 * RegExp expressions for properties that are named after Java methods: `javaLowerCase` contains the characters for
 * which `Character.isLowerCase` returns true.
 */
const javaMethods: Readonly<Record<string, string>> = {
  javaAlphabetic: '\\p{Alphabetic}',
  javaDefined: '\\P{Cn}',
  javaDigit: '\\p{Nd}',
  javaISOControl: '\\p{Cc}',
  javaIdeographic: '\\p{Ideographic}',
  javaLetter: '\\p{L}',
  javaLetterOrDigit: '[\\p{L}\\p{Nd}]',
  javaLowerCase: '\\p{Lowercase}',
  javaMirrored: '\\p{Bidi_Mirrored}',
  javaSpaceChar: '\\p{Z}',
  javaTitleCase: '\\p{Lt}',
  javaUnicodeIdentifierPart: '\\p{ID_Continue}',
  javaUnicodeIdentifierStart: '\\p{ID_Start}',
  javaUpperCase: '\\p{Uppercase}',
  javaWhitespace: '[[\\t-\\r\\x1c-\\x1f\\p{Z}]--[\\xa0\\u2007\\u202f]]',
}

/** RegExp expressions for `\p{Is…}`. The keys are the names in capitals without separators. */
const binaryProperties: Readonly<Record<string, string>> = {
  ALPHA: '\\p{Alphabetic}',
  CNTRL: '\\p{Cc}',
  LOWER: '\\p{Lowercase}',
  PUNCT: '\\p{P}',
  SPACE: '\\p{White_Space}',
  UPPER: '\\p{Uppercase}',
  XDIGIT: '[\\p{Nd}\\p{Hex_Digit}]',
  ALNUM: '[\\p{Alphabetic}\\p{Nd}]',
  ALPHABETIC: '\\p{Alphabetic}',
  ASSIGNED: '\\P{Cn}',
  BLANK: '[\\p{Zs}\\t]',
  CONTROL: '\\p{Cc}',
  DIGIT: '\\p{Nd}',
  EMOJI: '\\p{Emoji}',
  EMOJICOMPONENT: '\\p{Emoji_Component}',
  EMOJIMODIFIER: '\\p{Emoji_Modifier}',
  EMOJIMODIFIERBASE: '\\p{Emoji_Modifier_Base}',
  EMOJIPRESENTATION: '\\p{Emoji_Presentation}',
  EXTENDEDPICTOGRAPHIC: '\\p{Extended_Pictographic}',
  GRAPH: '[\\p{Any}--[\\p{White_Space}\\p{Cc}\\p{Cs}\\p{Cn}]]',
  HEXDIGIT: '[\\p{Nd}\\p{Hex_Digit}]',
  IDEOGRAPHIC: '\\p{Ideographic}',
  JOINCONTROL: '\\p{Join_Control}',
  LETTER: '\\p{L}',
  LOWERCASE: '\\p{Lowercase}',
  NONCHARACTERCODEPOINT: '\\p{Noncharacter_Code_Point}',
  PRINT: '[[\\p{Any}--[\\p{White_Space}\\p{Cc}\\p{Cs}\\p{Cn}]][\\p{Zs}]]',
  PUNCTUATION: '\\p{P}',
  TITLECASE: '\\p{Lt}',
  UPPERCASE: '\\p{Uppercase}',
  WHITESPACE: '\\p{White_Space}',
  WORD: '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]',
}

/** Returns undefined for an unknown property. Returns 'block' for Unicode blocks, which JavaScript does not support. */
export function propertyNamed(name: string): CodePointSet | 'block' | undefined {
  const equals = name.indexOf('=')
  if (equals >= 0) return keyedProperty(name.slice(0, equals).toLowerCase(), name.slice(equals + 1))
  if (name.startsWith('In')) return 'block'
  if (name.startsWith('Is')) return unicodeProperty(name.slice(2))
  const ascii = asciiClasses.get(name)
  if (ascii) return ascii
  const method = Object.hasOwn(javaMethods, name) ? javaMethods[name] : undefined
  return method ? membersOf(method) : category(name)
}

function keyedProperty(key: string, value: string): CodePointSet | 'block' | undefined {
  switch (key) {
    case 'sc':
    case 'script':
      return script(value)
    case 'gc':
    case 'general_category':
      return category(value)
    case 'blk':
    case 'block':
      return 'block'
    default:
      return undefined
  }
}

/** Finds the property of `\p{Is…}`: a binary property, a category or a script, in this order. */
function unicodeProperty(name: string): CodePointSet | undefined {
  const key = name.toUpperCase().replaceAll(/[_ -]/g, '')
  if (Object.hasOwn(binaryProperties, key)) return membersOf(binaryProperties[key] as string)
  return category(name) ?? script(name)
}

const categoryName = /^(C[cfnos]?|L[CDlmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/

function category(name: string): CodePointSet | undefined {
  if (!categoryName.test(name)) return undefined
  return membersOf(name === 'LD' ? '[\\p{L}\\p{Nd}]' : `\\p{${name}}`)
}

/** `name` is the name or the four-letter code of the script, in any case. */
function script(name: string): CodePointSet | undefined {
  if (!/^[A-Za-z]+([_ ][A-Za-z]+)*$/.test(name)) return undefined
  const words = name.split(/[_ ]/).map(word => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
  return membersOf(`\\p{Script=${words.join('_')}}`)
}

/** Sets by expression. The number of properties and scripts limits the cache to a few hundred sets. */
const known = new Map<string, CodePointSet>()

/** A full scan can exceed the time limit of a query, so each plane of 65536 code points is scanned separately. */
interface PropertyScan {
  readonly runs: RegExp
  readonly ranges: number[]
  nextPlane: number
}

/** Unfinished scans by expression. If a query is interrupted, its retry continues the scan. */
const scans = new Map<string, PropertyScan>()

const lastPlane = 0x10
/** The steps of effort (src/base/effort.ts) for each plane of Unicode. */
const stepsPerPlane = 16_384

/** The code points that an expression matches; undefined if JavaScript does not know the property. */
function membersOf(expression: string): CodePointSet | undefined {
  const found = known.get(expression)
  if (found) return found
  // `newerCharacters` can be interrupted. Called last, it would discard the finished scan of `expression`.
  const newer = newerCharacters()
  const members = runtimeMembers(expression)
  const set = members && asOfKnown(expression, members, newer)
  if (set) known.set(expression, set)
  return set
}

let newerFound: CodePointSet | undefined

/** Characters that the JavaScript runtime knows, but the project's tables do not. Usually empty. */
function newerCharacters(): CodePointSet {
  newerFound ??= intersection(runtimeMembers('\\P{Cn}') ?? [], complement(setOf(knownRanges())))
  return newerFound
}

/** Treats the characters in `newer` as unassigned. */
export function asOfKnown(expression: string, members: CodePointSet, newer: CodePointSet): CodePointSet {
  if (newer.length === 0) return members
  const matchesUnassigned = expression === '\\p{C}' || expression === '\\p{Cn}'
  return matchesUnassigned ? setOf([...members, ...newer]) : intersection(members, complement(newer))
}

function runtimeMembers(expression: string): CodePointSet | undefined {
  const scan = scans.get(expression) ?? beginScan(expression)
  if (scan === undefined) return undefined
  const { ranges, runs } = scan
  while (scan.nextPlane <= lastPlane) {
    listRuns(runs, scan.nextPlane++ << 16, ranges)
    step(stepsPerPlane)
  }
  scans.delete(expression)
  return setOf(ranges)
}

function beginScan(expression: string): PropertyScan | undefined {
  let runs: RegExp
  try {
    runs = new RegExp(`(?:${expression})+`, 'gv')
  } catch {
    return undefined
  }
  const scan = { runs, ranges: [], nextPlane: 0 }
  scans.set(expression, scan)
  return scan
}

/** Finds the matches of `runs` in a plane, and adds their ranges to `ranges`. `first`: the plane's first code point. */
function listRuns(runs: RegExp, first: number, ranges: number[]): void {
  const width = first === 0 ? 1 : 2
  // The last high surrogate and the first low surrogate would form a surrogate pair.
  for (const [from, to] of first === 0 ? basicParts : [[first, first + 0xffff] as const]) {
    let text = ''
    for (let codePoint = from; codePoint <= to; codePoint++) text += String.fromCodePoint(codePoint)
    for (const match of text.matchAll(runs)) {
      const start = from + match.index / width
      ranges.push(start, start + match[0].length / width - 1)
    }
  }
}

/** The first plane, split before the low surrogates. */
const basicParts = [
  [0, 0xdbff],
  [0xdc00, 0xffff],
] as const

/** JavaScript must know the property. */
export function unicodeSet(expression: string): CodePointSet {
  return membersOf(expression) ?? []
}

/** The class of a letter such as `d`. `unicode` (flag `U`) selects Unicode classes instead of ASCII classes. */
export function predefinedClass(letter: string, unicode: boolean): CodePointSet | undefined {
  switch (letter) {
    case 'd':
      return unicode ? unicodeSet('\\p{Nd}') : setOf(digits)
    case 's':
      return unicode ? unicodeSet('\\p{White_Space}') : setOf([9, 13, 0x20, 0x20])
    case 'w':
      return unicode
        ? unicodeSet(binaryProperties.WORD as string)
        : setOf([...digits, ...upper, 0x5f, 0x5f, ...lower])
    case 'h':
      return horizontalSpace
    case 'v':
      return verticalSpace
    default: {
      const opposite = letter.toLowerCase()
      const positive = opposite === letter ? undefined : predefinedClass(opposite, unicode)
      return positive && complement(positive)
    }
  }
}

const horizontalSpace = setOf([
  9, 9, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a, 0x202f, 0x202f, 0x205f,
  0x205f, 0x3000, 0x3000,
])
const verticalSpace = setOf([10, 13, 0x85, 0x85, 0x2028, 0x2029])
