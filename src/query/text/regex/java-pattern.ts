// Patterns in the syntax of java.util.regex, which the language has, rewritten for RE2, which takes time in
// proportion to the text whatever the pattern. Flags, classes and quoted sections are worked out here, so that what
// goes to RE2 is plain. What RE2 cannot do without backtracking is refused by name.

import { limits } from '../../../limits.ts'
import { type CharacterClass, classOf, dotClass, readClass, readClassEscape } from './character-class.ts'
import { allCodePoints, type CodePointSet } from './code-point-set.ts'
import { RegexSyntaxError, UnsupportedRegexError } from './errors.ts'
import { type Flags, noFlags, readFlags } from './flags.ts'
import { end, isAsciiLetter, isDigit, PatternReader } from './pattern-reader.ts'

/** A pattern for RE2. */
export interface TranslatedPattern {
  readonly source: string
  readonly usesLookBehind: boolean
  readonly groupCount: number
  /** Numbers of the named groups. */
  readonly groupNames: ReadonlyMap<string, number>
}

/** Translates a pattern. Throws {@link RegexSyntaxError} and {@link UnsupportedRegexError}. */
export function translatePattern(pattern: string): TranslatedPattern {
  return new Translator(pattern).translate()
}

/** A translated part and about how many instructions it takes. */
interface Part {
  readonly source: string
  readonly size: number
}

const nothing: Part = { source: '(?:)', size: 1 }

/** What RE2 has itself. */
const anchors: Readonly<Record<string, string>> = { A: '\\A', B: '\\B', b: '\\b', Z: '\\z', z: '\\z' }

const unsupportedEscapes: Readonly<Record<string, string>> = {
  G: 'the end of the previous match (\\G)',
  X: 'grapheme clusters (\\X)',
  k: 'back references (\\k)',
}

const lineBreak = '(?:\\r\\n|[\\n\\x0b\\f\\r\\x{85}\\x{2028}\\x{2029}])'

const code = (character: string) => character.charCodeAt(0)

class Translator {
  readonly #reader: PatternReader
  #flags = noFlags
  #groups = 0
  readonly #names = new Map<string, number>()
  #usesLookBehind = false
  #inLookBehind = false
  #depth = 0

  constructor(pattern: string) {
    this.#reader = new PatternReader(pattern)
  }

  translate(): TranslatedPattern {
    const { source } = this.#alternatives()
    if (this.#reader.peek() !== end) throw new RegexSyntaxError()
    return {
      source,
      usesLookBehind: this.#usesLookBehind,
      groupCount: this.#groups,
      groupNames: this.#names,
    }
  }

  #setFlags(flags: Flags): void {
    this.#flags = flags
    this.#reader.comments = flags.comments
  }

  /** Alternatives up to a closing parenthesis or the end. */
  #alternatives(): Part {
    const branches = [this.#sequence()]
    while (this.#reader.peek() === code('|')) {
      this.#reader.next()
      branches.push(this.#sequence())
    }
    if (branches.length === 1) return branches[0] as Part
    return sized(
      branches.map(branch => branch.source).join('|'),
      branches.reduce((sum, branch) => sum + branch.size + 1, 0),
    )
  }

  #sequence(): Part {
    let source = ''
    let size = 0
    for (;;) {
      const codePoint = this.#reader.peek()
      if (codePoint === end || codePoint === code('|') || codePoint === code(')')) break
      const atom = this.#atom(codePoint)
      if (!atom) continue
      const part = this.#quantified(atom)
      source += part.source
      size += part.size
      checkSize(source, size)
    }
    return source === '' ? nothing : { source, size }
  }

  /** One atom; undefined for flags that stand by themselves. */
  #atom(codePoint: number): Part | undefined {
    switch (String.fromCodePoint(codePoint)) {
      case '*':
      case '+':
      case '?':
        throw new RegexSyntaxError()
      case '{':
        // A count with nothing before it repeats nothing; whether it is one is seen next.
        return nothing
      case '(':
        return this.#group()
    }
    this.#reader.next()
    switch (String.fromCodePoint(codePoint)) {
      case '[':
        return this.#class(readClass(this.#reader, this.#flags))
      case '.':
        return this.#class(dotClass(this.#flags))
      case '^':
        return { source: this.#flags.multiline ? '(?m:^)' : '\\A', size: 1 }
      case '$':
        return { source: this.#flags.multiline ? '(?m:$)' : '\\z', size: 1 }
      case '\\':
        return this.#escape()
      default:
        return this.#character(codePoint)
    }
  }

  #escape(): Part {
    const reader = this.#reader
    const letter = reader.nextRaw()
    const set = readClassEscape(reader, letter, this.#flags)
    if (set) return this.#class(classOf(set, this.#flags))
    const name = String.fromCodePoint(letter)
    if (Object.hasOwn(unsupportedEscapes, name)) {
      throw new UnsupportedRegexError(unsupportedEscapes[name] as string)
    }
    if (letter >= code('1') && letter <= code('9')) {
      throw new UnsupportedRegexError(`back references (\\${name})`)
    }
    if (name === 'R') return { source: lineBreak, size: 4 }
    if (name === 'b' && reader.skip('{g}')) throw new UnsupportedRegexError('grapheme boundaries (\\b{g})')
    if (Object.hasOwn(anchors, name)) return { source: anchors[name] as string, size: 1 }
    return this.#character(reader.readEscaped(letter))
  }

  #character(codePoint: number): Part {
    if (!this.#flags.ignoreCase) return { source: literal(codePoint), size: 1 }
    return this.#class(classOf([codePoint, codePoint], this.#flags))
  }

  #class(members: CharacterClass): Part {
    const source = classSource(members)
    const foldsAll = this.#flags.ignoreCase && this.#flags.unicodeCase
    return { source: foldsAll ? `(?i:${source})` : source, size: 1 }
  }

  /** A group, from its opening parenthesis on. Flags switched on inside end with it. */
  #group(): Part | undefined {
    const reader = this.#reader
    reader.next()
    const outer = this.#flags
    const lookBehind = this.#inLookBehind
    let opening: string | undefined
    if (reader.skip('?')) opening = this.#specialGroup()
    else opening = this.#capture()
    if (opening === undefined) return undefined
    if (++this.#depth > limits.regexDepthMax) throw new UnsupportedRegexError('groups nested so deeply')
    const body = this.#alternatives()
    this.#depth--
    if (reader.next() !== code(')')) throw new RegexSyntaxError()
    this.#setFlags(outer)
    this.#inLookBehind = lookBehind
    return { source: `${opening}${body.source})`, size: body.size + 2 }
  }

  #capture(): string {
    if (this.#inLookBehind) throw new UnsupportedRegexError('capturing groups within look-behind')
    this.#groups++
    return '('
  }

  /** Behind `(?`: how RE2 opens the group, or undefined when it only switched flags. */
  #specialGroup(): string | undefined {
    const reader = this.#reader
    if (reader.skip('=') || reader.skip('!')) throw new UnsupportedRegexError('look-ahead')
    if (reader.skip('>')) throw new UnsupportedRegexError('atomic groups')
    if (reader.skip('<=')) return this.#lookBehind('(?<=')
    if (reader.skip('<!')) return this.#lookBehind('(?<!')
    if (reader.skip('<')) return this.#namedGroup()
    const flags = readFlags(reader, this.#flags)
    const close = reader.nextRaw()
    if (close === code(')')) {
      this.#setFlags(flags)
      return undefined
    }
    if (close !== code(':')) throw new RegexSyntaxError()
    this.#setFlags(flags)
    return '(?:'
  }

  #lookBehind(opening: string): string {
    this.#usesLookBehind = true
    this.#inLookBehind = true
    return opening
  }

  #namedGroup(): string {
    const name = this.#reader.readUntil('>')
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(name) || this.#names.has(name)) throw new RegexSyntaxError()
    const opening = this.#capture()
    this.#names.set(name, this.#groups)
    return opening
  }

  /** An atom with the quantifier behind it, if there is one. */
  #quantified(atom: Part): Part {
    const reader = this.#reader
    const codePoint = reader.peek()
    if (codePoint === code('{')) return this.#counted(atom)
    if (codePoint !== code('?') && codePoint !== code('*') && codePoint !== code('+')) return atom
    reader.next()
    return sized(`${repeatable(atom)}${String.fromCodePoint(codePoint)}${this.#manner()}`, atom.size + 2)
  }

  #counted(atom: Part): Part {
    const reader = this.#reader
    reader.next()
    const least = reader.readNumber()
    if (least === undefined) throw new RegexSyntaxError()
    let most: number | undefined = least
    if (reader.skip(',')) most = isDigit(reader.peekRaw()) ? reader.readNumber() : undefined
    if (!reader.skip('}') || (most !== undefined && most < least)) throw new RegexSyntaxError()
    const count = most ?? least
    if (count > countMax) throw new UnsupportedRegexError(`counts above ${countMax}`)
    const counts = most === least ? `${least}` : `${least},${most ?? ''}`
    return sized(`${repeatable(atom)}{${counts}}${this.#manner()}`, (atom.size + 1) * Math.max(1, count))
  }

  /** What follows a quantifier: nothing for greedy, `?` for reluctant. */
  #manner(): string {
    const codePoint = this.#reader.peek()
    if (codePoint === code('+')) throw new UnsupportedRegexError('possessive quantifiers')
    if (codePoint !== code('?')) return ''
    this.#reader.next()
    return '?'
  }
}

/** The largest count RE2 takes, also for counts within counts together. */
const countMax = 1000

function checkSize(source: string, size: number): void {
  if (size > limits.regexInstructionsMax || source.length > limits.regexSourceCharsMax) {
    throw new UnsupportedRegexError('more than fits in a compiled pattern')
  }
}

function sized(source: string, size: number): Part {
  checkSize(source, size)
  return { source, size }
}

/** A part to which a quantifier applies as a whole. */
function repeatable({ source }: Part): string {
  return `(?:${source})`
}

function literal(codePoint: number): string {
  if (isAsciiLetter(codePoint) || isDigit(codePoint)) return String.fromCharCode(codePoint)
  return `\\x{${codePoint.toString(16)}}`
}

/** Sources of the sets of properties, which are the same objects every time and have hundreds of ranges. */
const rangeSources = new WeakMap<CodePointSet, string>()

function rangesSource(set: CodePointSet): string {
  const known = rangeSources.get(set)
  if (known !== undefined) return known
  let source = ''
  for (let index = 0; index < set.length; index += 2) {
    source += `${literal(set[index] as number)}-${literal(set[index + 1] as number)}`
  }
  rangeSources.set(set, source)
  return source
}

function classSource({ negated, set }: CharacterClass): string {
  const inner: CodePointSet = set.length === 0 ? allCodePoints : set
  const sign = (set.length === 0) === negated ? '' : '^'
  return `[${sign}${rangesSource(inner)}]`
}
