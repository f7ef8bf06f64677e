// Parses patterns in the syntax of java.util.regex, which is the syntax of the query languages. The parser resolves
// flags, classes and quoted sections, so the syntax tree is simple. An error names each feature that no regex engine of
// the service supports.

import { limits } from '../../base/limits.ts'
import { type CharacterClass, classOf, dotClass, readClass, readClassEscape } from './character-class.ts'
import { UnsupportedRegexError } from './pattern-errors.ts'
import { end, type Flags, isDigit, noFlags, PatternReader, readFlags } from './pattern-reader.ts'
import type { Anchor, CaseFolding, Manner, PatternNode, PatternTree } from './pattern-tree.ts'

const javaPatternLimits = {
  /** Maximum depth of nested groups in a search pattern; own limit. */
  regexDepthMax: 200,
} as const

/** Throws {@link RegexSyntaxError} and {@link UnsupportedRegexError}. */
export function readPattern(pattern: string): PatternTree {
  return new Parser(pattern).parse()
}

const unclosedName = "named capturing group is missing trailing '>'"

/** The pattern that matches the empty string. */
const nothing: PatternNode = { kind: 'sequence', parts: [] }

const code = (character: string) => character.charCodeAt(0)

class Parser {
  readonly #reader: PatternReader
  #flags = noFlags
  #groups = 0
  readonly #names = new Map<string, number>()
  readonly #anchors = new Set<Anchor>()
  #depth = 0
  #classBounds = 0

  constructor(pattern: string) {
    this.#reader = new PatternReader(pattern)
  }

  parse(): PatternTree {
    const root = this.#alternatives()
    if (this.#reader.peek() !== end) throw this.#reader.fault("Unmatched closing ')'")
    return { root, groupCount: this.#groups, groupNames: this.#names, anchors: this.#anchors }
  }

  #setFlags(flags: Flags): void {
    this.#flags = flags
    this.#reader.comments = flags.comments
  }

  /** Reads until a closing parenthesis or the end of the pattern. */
  #alternatives(): PatternNode {
    const branches = [this.#sequence()]
    while (this.#reader.peek() === code('|')) {
      this.#reader.next()
      branches.push(this.#sequence())
    }
    return branches.length === 1 ? (branches[0] as PatternNode) : { kind: 'alternatives', branches }
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    for (;;) {
      const codePoint = this.#reader.peek()
      if (codePoint === end || codePoint === code('|') || codePoint === code(')')) break
      const atom = this.#atom(codePoint)
      if (atom) parts.push(this.#quantified(atom))
    }
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'sequence', parts }
  }

  /** Reads the next part of a sequence, without its quantifier. Returns undefined if the part only changes flags. */
  #atom(codePoint: number): PatternNode | undefined {
    switch (String.fromCodePoint(codePoint)) {
      case '*':
      case '+':
      case '?':
        throw this.#reader.fault(`Dangling meta character '${String.fromCodePoint(codePoint)}'`, 0)
      case '{':
        // A count such as `{2}` without a preceding part repeats the empty string. The caller reads the count.
        return nothing
      case '(':
        return this.#group()
    }
    this.#reader.next()
    const { multiline, unixLines } = this.#flags
    switch (String.fromCodePoint(codePoint)) {
      case '[':
        return this.#class(readClass(this.#reader, this.#flags))
      case '.':
        return this.#class(dotClass(this.#flags))
      case '^':
        if (!multiline) return this.#anchor('textStart')
        return this.#anchor(unixLines ? 'unixLineStart' : 'lineStart')
      case '$':
        if (!multiline) return this.#lastLineEnd()
        return this.#anchor(unixLines ? 'unixLineEnd' : 'lineEnd')
      case '\\':
        return this.#escape()
      default:
        return this.#character(codePoint)
    }
  }

  #anchor(anchor: Anchor): PatternNode {
    this.#anchors.add(anchor)
    return { kind: 'anchor', anchor }
  }

  #lastLineEnd(): PatternNode {
    return this.#anchor(this.#flags.unixLines ? 'unixLastLineEnd' : 'lastLineEnd')
  }

  #escape(): PatternNode {
    const reader = this.#reader
    const letter = reader.nextRaw()
    const set = readClassEscape(reader, letter, this.#flags)
    if (set) return this.#class(classOf(set, this.#flags))
    if (letter >= code('1') && letter <= code('9')) return this.#numberedReference(letter - code('0'))
    const unicode = this.#flags.unicodeClasses
    switch (String.fromCodePoint(letter)) {
      case 'A':
        return this.#anchor('textStart')
      case 'B':
        return this.#anchor(unicode ? 'unicodeNoBoundary' : 'noBoundary')
      case 'G':
        return this.#anchor('previousEnd')
      case 'R':
        return { kind: 'lineBreak' }
      case 'X':
        throw new UnsupportedRegexError('grapheme clusters (\\X)')
      case 'Z':
        return this.#lastLineEnd()
      case 'b':
        if (reader.skip('{g}')) throw new UnsupportedRegexError('grapheme boundaries (\\b{g})')
        return this.#anchor(unicode ? 'unicodeBoundary' : 'boundary')
      case 'k':
        return this.#namedReference()
      case 'z':
        return this.#anchor('textEnd')
      default:
        return this.#character(reader.readEscaped(letter))
    }
  }

  /**
   * Reads the group number of a reference such as `\12`. A further digit belongs to the number only if a group with the
   * longer number begins earlier in the pattern.
   */
  #numberedReference(firstDigit: number): PatternNode {
    let group = firstDigit
    while (isDigit(this.#reader.peek())) {
      const longer = group * 10 + this.#reader.peek() - code('0')
      if (longer > this.#groups) break
      group = longer
      this.#reader.next()
    }
    return { kind: 'backReference', group, folding: this.#folding() }
  }

  #namedReference(): PatternNode {
    const reader = this.#reader
    if (!reader.skip('<')) throw reader.fault("\\k is not followed by '<' for named capturing group", 0)
    const name = reader.readUntil('>', unclosedName)
    const group = this.#names.get(name)
    if (group === undefined) throw reader.fault(`named capturing group <${name}> does not exist`)
    return { kind: 'backReference', group, folding: this.#folding() }
  }

  #folding(): CaseFolding {
    if (!this.#flags.ignoreCase) return 'none'
    return this.#flags.unicodeCase ? 'unicode' : 'ascii'
  }

  #character(codePoint: number): PatternNode {
    return this.#class(classOf([codePoint, codePoint], this.#flags))
  }

  #class(members: CharacterClass): PatternNode {
    // Each bound takes at least one character of the source for RE2.
    this.#classBounds += members.set.length
    if (this.#classBounds > limits.regexSourceCharsMax) {
      throw new UnsupportedRegexError('more than fits in a compiled pattern')
    }
    return { kind: 'class', members, foldsUnicode: this.#folding() === 'unicode' }
  }

  /**
   * Reads a group, including both parentheses. Changed flags apply until the end of the group; if it only changes
   * flags, like `(?i)`, until the end of the enclosing group.
   */
  #group(): PatternNode | undefined {
    const reader = this.#reader
    reader.next()
    const outer = this.#flags
    const wrap = reader.skip('?') ? this.#specialGroup() : this.#capture()
    if (!wrap) return undefined
    if (++this.#depth > javaPatternLimits.regexDepthMax)
      throw new UnsupportedRegexError('groups nested so deeply')
    const body = this.#alternatives()
    this.#depth--
    if (reader.next() !== code(')')) throw reader.fault('Unclosed group', 0)
    this.#setFlags(outer)
    return wrap(body)
  }

  #capture(): (body: PatternNode) => PatternNode {
    const number = ++this.#groups
    return body => ({ kind: 'group', body, number })
  }

  /**
   * Reads the start of a group after `(?`. The result creates the node of the group; undefined if the group only
   * changes flags.
   */
  #specialGroup(): ((body: PatternNode) => PatternNode) | undefined {
    const reader = this.#reader
    if (reader.skip('=')) return body => ({ kind: 'look', body, behind: false, negative: false })
    if (reader.skip('!')) return body => ({ kind: 'look', body, behind: false, negative: true })
    if (reader.skip('>')) return body => ({ kind: 'atomic', body })
    if (reader.skip('<=')) return body => ({ kind: 'look', body, behind: true, negative: false })
    if (reader.skip('<!')) return body => ({ kind: 'look', body, behind: true, negative: true })
    if (reader.skip('<')) return this.#namedGroup()
    const flags = readFlags(reader, this.#flags)
    const close = reader.nextRaw()
    if (close !== code(')') && close !== code(':')) throw reader.fault('Unknown inline modifier')
    this.#setFlags(flags)
    return close === code(')') ? undefined : body => ({ kind: 'group', body, number: undefined })
  }

  #namedGroup(): (body: PatternNode) => PatternNode {
    const name = this.#reader.readUntil('>', unclosedName)
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(name)) throw this.#reader.fault(unclosedName)
    if (this.#names.has(name)) throw this.#reader.fault(`Named capturing group <${name}> is already defined`)
    const wrap = this.#capture()
    this.#names.set(name, this.#groups)
    return wrap
  }

  #quantified(body: PatternNode): PatternNode {
    const reader = this.#reader
    const codePoint = reader.peek()
    if (codePoint === code('{')) return this.#counted(body)
    if (codePoint !== code('?') && codePoint !== code('*') && codePoint !== code('+')) return body
    reader.next()
    const least = codePoint === code('+') ? 1 : 0
    const most = codePoint === code('?') ? 1 : Number.POSITIVE_INFINITY
    return { kind: 'repeat', body, least, most, manner: this.#manner() }
  }

  #counted(body: PatternNode): PatternNode {
    const reader = this.#reader
    reader.next()
    const least = reader.readNumber()
    if (least === undefined) throw reader.fault('Illegal repetition', 0)
    let most: number | undefined = least
    if (reader.skip(',')) most = isDigit(reader.peekRaw()) ? reader.readNumber() : Number.POSITIVE_INFINITY
    if (!reader.skip('}')) throw reader.fault('Unclosed counted closure', 0)
    if (most === undefined || most < least) throw reader.fault('Illegal repetition range')
    return { kind: 'repeat', body, least, most, manner: this.#manner() }
  }

  /** Reads the optional suffix `?` or `+` of a quantifier. */
  #manner(): Manner {
    const codePoint = this.#reader.peek()
    if (codePoint !== code('?') && codePoint !== code('+')) return 'greedy'
    this.#reader.next()
    return codePoint === code('?') ? 'reluctant' : 'possessive'
  }
}
