// Types, as they stand behind `let x:` and in the signatures of fields. A query skips them: they mean nothing when it runs.

import { limits } from '../../limits.ts'
import { readNumber, readString, startsNumber, startsString } from './literals.ts'
import { code, type SourceReader } from './reader.ts'

interface Place {
  readonly start: number
  readonly end: number
}

/** A field of an object's type. */
interface TypeMember {
  readonly name: string
  readonly type: TypeNode
  /** The place of the expression behind `=`. */
  readonly defaultValue: Place | undefined
}

/** A type as it is written. */
export type TypeNode =
  | (Place & { readonly kind: 'name'; readonly name: string; readonly arguments: readonly TypeNode[] })
  | (Place & { readonly kind: 'literal'; readonly value: boolean | bigint | number | string })
  | (Place & { readonly kind: 'tuple'; readonly elements: readonly TypeNode[] })
  | (Place & {
      readonly kind: 'object'
      readonly members: readonly TypeMember[]
      readonly wildcard: TypeNode | undefined
    })
  | (Place & { readonly kind: 'union' | 'intersection'; readonly members: readonly TypeNode[] })
  | (Place & { readonly kind: 'optional'; readonly inner: TypeNode })
  | (Place & {
      readonly kind: 'function'
      readonly parameters: readonly TypeNode[]
      readonly result: TypeNode
    })

/** Reads an expression behind `=`; where there is none, fields of objects have no defaults. */
type ReadDefault = () => Place

/** Reads a type. `depth` is how many are around it. */
export function readType(reader: SourceReader, depth = 0, readDefault?: ReadDefault): TypeNode {
  if (depth > limits.v10NestingMax)
    throw reader.fault('The query is nested too deeply', reader.at, reader.at + 1)
  const start = reader.at
  const operands: TypeNode[] = []
  let kind: 'union' | 'intersection' = 'union'
  for (;;) {
    const { isName, node: base, parameters } = readBase(reader, depth, readDefault)
    let node = base
    let end = reader.at
    reader.blanks()
    while (reader.unit() === code.question) {
      reader.at++
      end = reader.at
      node = { kind: 'optional', inner: node, start: node.start, end }
      reader.blanks()
    }
    operands.push(node)
    const next = reader.unit()
    if (next === code.bar || next === 0x26) {
      kind = next === code.bar ? 'union' : 'intersection'
      reader.at++
      reader.lines()
    } else if (reader.skips('=>')) {
      reader.lines()
      const result = readType(reader, depth + 1, readDefault)
      const given = operands.length === 1 && parameters !== undefined ? parameters : [joined(operands, kind)]
      return { kind: 'function', parameters: given, result, start, end: result.end }
    } else {
      const isEnd = isEndOfType(next) || (readDefault !== undefined && reader.at >= reader.text.length)
      if (isName && !isEnd) throw reader.expected('`<`', '`=`')
      reader.at = end
      return joined(operands, kind)
    }
  }
}

function joined(operands: readonly TypeNode[], kind: 'union' | 'intersection'): TypeNode {
  const first = operands[0] as TypeNode
  if (operands.length === 1) return first
  return { kind, members: operands, start: first.start, end: (operands.at(-1) as TypeNode).end }
}

function isEndOfType(unit: number): boolean {
  return [
    code.equals,
    code.newline,
    code.return,
    code.comma,
    code.semicolon,
    code.close,
    code.closeBracket,
    code.closeBrace,
    code.greater,
    code.slash,
  ].some(each => each === unit)
}

interface Base {
  readonly node: TypeNode
  /** A name that could have arguments. */
  readonly isName: boolean
  /** What stands in parentheses: parameters, when an arrow follows. */
  readonly parameters?: readonly TypeNode[]
}

/** Reads a type without operators. */
function readBase(reader: SourceReader, depth: number, readDefault: ReadDefault | undefined): Base {
  const start = reader.at
  const named = (node: TypeNode): Base => ({ node, isName: false })
  if (startsNumber(reader)) {
    const { value, end } = readNumber(reader)
    return named({ kind: 'literal', value: value as bigint | number, start, end })
  }
  if (startsString(reader)) {
    const text = readString(reader, () => {
      throw reader.expected('type')
    })
    const value = text.kind === 'literal' ? (text.value as string) : ''
    return named({ kind: 'literal', value, start, end: reader.at })
  }
  if (reader.skips('[')) {
    const elements = readTypes(reader, '`]`', depth, readDefault)
    return named({ kind: 'tuple', elements, start, end: reader.at })
  }
  if (reader.skips('(')) {
    const elements = readTypes(reader, '`)`', depth, readDefault)
    const [only] = elements
    const isGroup = elements.length === 1 && only !== undefined
    const node: TypeNode = isGroup ? only : { kind: 'tuple', elements, start, end: reader.at }
    return { node, isName: false, parameters: elements }
  }
  if (reader.skips('{')) return named(readFields(reader, start, depth, readDefault))
  if (!reader.isName) throw reader.expected('type')
  return readName(reader, depth, readDefault)
}

function readName(reader: SourceReader, depth: number, readDefault: ReadDefault | undefined): Base {
  const start = reader.at
  reader.anyName()
  while (reader.unit() === code.dot && reader.text.charCodeAt(reader.at + 1) !== code.dot) {
    reader.at++
    reader.anyName()
  }
  const end = reader.at
  const name = reader.text.slice(start, end)
  if (name === 'true' || name === 'false') {
    return { node: { kind: 'literal', value: name === 'true', start, end }, isName: true }
  }
  reader.blanks()
  if (!reader.skips('<')) {
    reader.at = end
    return { node: { kind: 'name', name, arguments: [], start, end }, isName: true }
  }
  const given = readTypes(reader, '`>`', depth, readDefault)
  return { node: { kind: 'name', name, arguments: given, start, end: reader.at }, isName: false }
}

/** Types up to a bracket; in parentheses they may have names and be variadic. */
function readTypes(
  reader: SourceReader,
  end: '`]`' | '`)`' | '`>`',
  depth: number,
  readDefault: ReadDefault | undefined,
): readonly TypeNode[] {
  const bracket = end[1] as string
  const types: TypeNode[] = []
  reader.lines()
  while (!reader.skips(bracket)) {
    if (end === '`)`') skipArgumentName(reader)
    types.push(readType(reader, depth + 1, readDefault))
    reader.lines()
    if (reader.skips(',')) reader.lines()
    else if (!reader.text.startsWith(bracket, reader.at)) throw reader.expected(end, '`,`')
  }
  return types
}

function skipArgumentName(reader: SourceReader): void {
  const start = reader.at
  if (reader.isName) {
    reader.anyName()
    reader.blanks()
    if (reader.skips(':')) reader.lines()
    else reader.at = start
  }
  if (reader.skips('...')) reader.lines()
}

function readFields(
  reader: SourceReader,
  start: number,
  depth: number,
  readDefault: ReadDefault | undefined,
): TypeNode {
  const members: TypeMember[] = []
  let wildcard: TypeNode | undefined
  let open: { readonly what: string; readonly start: number; readonly end: number } | undefined
  reader.lines()
  while (!reader.skips('}')) {
    const memberStart = reader.at
    const { from, member, what } = readMember(reader, depth, readDefault)
    const end = reader.at
    if (open !== undefined) {
      const remarks = [reader.remark('hint', `${open.what} defined here`, open.start, open.end)]
      reader.record(`${open.what} must be the last element in an object`, memberStart, end, { remarks })
    }
    if (what !== undefined) open = { what, start: from, end }
    if (what === 'Wildcard') wildcard = member?.type
    else if (member !== undefined) members.push(member)
    separateFields(reader)
  }
  return { kind: 'object', members, wildcard, start, end: reader.at }
}

/** One field, the wildcard, or `...`. */
function readMember(reader: SourceReader, depth: number, readDefault: ReadDefault | undefined) {
  const start = reader.at
  if (reader.skips('...')) return { from: start, what: 'Interface', member: undefined }
  let name = '*'
  const isWildcard = reader.skips('*')
  if (!isWildcard) {
    if (startsString(reader)) {
      const text = readString(reader, () => {
        throw reader.expected('identifier')
      })
      name = text.kind === 'literal' ? (text.value as string) : ''
    } else name = reader.anyName()
  }
  reader.blanks()
  if (!reader.skips(':')) throw reader.expected('`:`')
  reader.lines()
  const from = reader.at
  const type = readType(reader, depth + 1, readDefault)
  const member: TypeMember = { name, type, defaultValue: readValue(reader, readDefault) }
  return { from, what: isWildcard ? 'Wildcard' : undefined, member }
}

/** The default behind a type, where there may be one. */
function readValue(reader: SourceReader, readDefault: ReadDefault | undefined): Place | undefined {
  if (readDefault === undefined) return undefined
  const before = reader.at
  reader.blanks()
  if (!reader.skips('=')) {
    reader.at = before
    return undefined
  }
  reader.lines()
  return readDefault()
}

function separateFields(reader: SourceReader): void {
  const before = reader.at
  reader.lines()
  const newline = reader.text.slice(before, reader.at).includes('\n')
  if (reader.skips(',') || reader.skips(';')) reader.lines()
  else if (!newline && reader.unit() !== code.closeBrace) throw reader.expected('`,`', '`}`')
}
