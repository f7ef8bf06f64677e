// Translates patterns to the syntax of RE2, which searches in linear time. The backtracking engine searches patterns
// with features that RE2 lacks.

import { catchError } from '../../base/catch-error.ts'
import { limits } from '../../base/limits.ts'
import type { CharacterClass } from './character-class.ts'
import { allCodePoints, type CodePointSet } from './code-point-set.ts'
import { isAsciiLetter, isDigit } from './pattern-reader.ts'
import type { Anchor, ClassNode, LookNode, PatternNode, RepeatNode } from './pattern-tree.ts'

interface LinearSource {
  readonly source: string
  readonly usesLookBehind: boolean
}

/** Returns undefined if the pattern has features that RE2 lacks, or if the translation is too large. */
export function linearSource(root: PatternNode): LinearSource | undefined {
  const writer = new SourceWriter()
  return catchError(
    NotLinear,
    () => ({ source: writer.write(root).source, usesLookBehind: writer.usesLookBehind }),
    () => undefined,
  )
}

class NotLinear extends Error {}

/** A translated node. `size` is the estimated number of RE2 instructions. */
interface Part {
  readonly source: string
  readonly size: number
}

/** The largest repetition count that RE2 accepts. */
const countMax = 1000

const lineBreak = '(?:\\r\\n|[\\n\\x0b\\f\\r\\x{85}\\x{2028}\\x{2029}])'

/**
 * The RE2 anchor for each Java anchor. The backtracking engine searches texts in which the two could match at different
 * offsets.
 */
const anchors: Readonly<Record<Anchor, string | undefined>> = {
  textStart: '\\A',
  textEnd: '\\z',
  lastLineEnd: '\\z',
  unixLastLineEnd: '\\z',
  lineStart: '(?m:^)',
  unixLineStart: '(?m:^)',
  lineEnd: '(?m:$)',
  unixLineEnd: '(?m:$)',
  boundary: '\\b',
  unicodeBoundary: '\\b',
  noBoundary: '\\B',
  unicodeNoBoundary: '\\B',
  previousEnd: undefined,
}

class SourceWriter {
  usesLookBehind = false
  #inLookBehind = false

  write(node: PatternNode): Part {
    switch (node.kind) {
      case 'class':
        return classPart(node)
      case 'sequence':
        return this.#sequence(node.parts)
      case 'alternatives': {
        const branches = node.branches.map(branch => this.write(branch))
        const size = branches.reduce((sum, branch) => sum + branch.size + 1, 0)
        return sized(branches.map(({ source }) => source).join('|'), size)
      }
      case 'group':
        if (node.number !== undefined && this.#inLookBehind) throw new NotLinear()
        return this.#wrapped(node.number === undefined ? '(?:' : '(', node.body)
      case 'repeat':
        return this.#repeat(node)
      case 'look':
        return this.#look(node)
      case 'anchor': {
        const source = anchors[node.anchor]
        if (source === undefined) throw new NotLinear()
        return { source, size: 1 }
      }
      case 'lineBreak':
        return { source: lineBreak, size: 4 }
      case 'atomic':
      case 'backReference':
        throw new NotLinear()
    }
  }

  #sequence(parts: readonly PatternNode[]): Part {
    let source = ''
    let size = 0
    for (const node of parts) {
      const part = this.write(node)
      source += part.source
      size += part.size
      checkSize(source, size)
    }
    return source === '' ? { source: '(?:)', size: 1 } : { source, size }
  }

  #wrapped(opening: string, body: PatternNode): Part {
    const { size, source } = this.write(body)
    return sized(`${opening}${source})`, size + 2)
  }

  #look({ behind, body, negative }: LookNode): Part {
    if (!behind) throw new NotLinear()
    this.usesLookBehind = true
    const outer = this.#inLookBehind
    this.#inLookBehind = true
    const part = this.#wrapped(negative ? '(?<!' : '(?<=', body)
    this.#inLookBehind = outer
    return part
  }

  #repeat({ body, least, manner, most }: RepeatNode): Part {
    const count = most === Number.POSITIVE_INFINITY ? least : most
    if (manner === 'possessive' || count > countMax) throw new NotLinear()
    const { size, source } = this.write(body)
    const mannerSuffix = manner === 'reluctant' ? '?' : ''
    return sized(`(?:${source})${quantifier(least, most)}${mannerSuffix}`, (size + 1) * Math.max(1, count))
  }
}

function quantifier(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '*' : least === 1 ? '+' : `{${least},}`
  if (least === 0 && most === 1) return '?'
  return least === most ? `{${least}}` : `{${least},${most}}`
}

function checkSize(source: string, size: number): void {
  if (size > limits.regexInstructionsMax || source.length > limits.regexSourceCharsMax) throw new NotLinear()
}

function sized(source: string, size: number): Part {
  checkSize(source, size)
  return { source, size }
}

function classPart({ foldsUnicode, members }: ClassNode): Part {
  const [first, last] = members.set
  const single = members.set.length === 2 && first === last && !members.negated
  const source = single ? literal(first as number) : classSource(members)
  return { source: foldsUnicode ? `(?i:${source})` : source, size: 1 }
}

function literal(codePoint: number): string {
  if (isAsciiLetter(codePoint) || isDigit(codePoint)) return String.fromCharCode(codePoint)
  return `\\x{${codePoint.toString(16)}}`
}

/** A set can have hundreds of ranges, and all patterns share the set of a Unicode property. */
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

/** An empty class is written as the complement of all code points. */
function classSource({ negated, set }: CharacterClass): string {
  const inner: CodePointSet = set.length === 0 ? allCodePoints : set
  const sign = (set.length === 0) === negated ? '' : '^'
  return `[${sign}${rangesSource(inner)}]`
}
