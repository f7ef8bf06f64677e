// Parses types: annotations (`let x:`), field signatures, and types in schema files. A query ignores its annotations at
// run time.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { readNumber, readString, startsNumber, startsString } from './literals.ts'
import type { Node, TypeMember, TypeNode, TypeParameter } from './nodes.ts'
import { char, type SourceReader } from './reader.ts'

/** Options for a type in a declaration, as opposed to an annotation in a query. */
interface DeclarationOptions {
  /** Parses the default expression after `=` in object types. */
  readonly readDefault: () => Node
  /** True if the caller parses the text after the type. */
  readonly isPart?: boolean
}

export function readType(reader: SourceReader, declaration?: DeclarationOptions): TypeNode {
  if (reader.typeDepth > limits.v10NestingMax)
    throw reader.fault(msg`The query is nested too deeply`, reader.at, reader.at + 1)
  reader.typeDepth++
  const type = readWholeType(reader, declaration)
  reader.typeDepth--
  return type
}

function readWholeType(reader: SourceReader, declaration: DeclarationOptions | undefined): TypeNode {
  const start = reader.at
  const members: TypeNode[] = []
  // `&` binds tighter than `|`.
  let operands: TypeNode[] = []
  for (;;) {
    const { isName, node: base, parameters } = readBase(reader, declaration)
    let node = base
    let end = reader.at
    reader.skipBlanks()
    while (reader.unit() === char.question) {
      reader.at++
      end = reader.at
      node = { kind: 'optional', inner: node, start: node.start, end }
      reader.skipBlanks()
    }
    operands.push(node)
    if (reader.skips('&')) {
      reader.skipSpace()
      continue
    }
    members.push(typeOfOperands('intersection', operands))
    operands = []
    if (reader.skips('|')) reader.skipSpace()
    else if (reader.skips('=>')) {
      reader.skipSpace()
      const result = readType(reader, declaration)
      const given =
        members[0] === base && parameters !== undefined
          ? parameters
          : [{ name: undefined, isRest: false, type: typeOfOperands('union', members) }]
      return { kind: 'function', parameters: given, result, start, end: result.end }
    } else {
      if (isName && !mayEndType(reader, declaration)) throw reader.expected('`<`', '`=`')
      reader.at = end
      return typeOfOperands('union', members)
    }
  }
}

function typeOfOperands(kind: 'union' | 'intersection', operands: readonly TypeNode[]): TypeNode {
  const first = operands[0] as TypeNode
  if (operands.length === 1) return first
  return { kind, members: operands, start: first.start, end: (operands.at(-1) as TypeNode).end }
}

/** The characters that may follow a name without type arguments. */
const endsOfType = '=\n\r,;)]}>/'

/**
 * Returns whether a type may end at the position, after a name without type arguments. In a query, text must follow an
 * annotation. In a declaration, the type may be at the end of the text. If `isPart` is true, the caller checks the text
 * after the type.
 */
function mayEndType({ text, at }: SourceReader, declaration: DeclarationOptions | undefined): boolean {
  const isAtEnd = at >= text.length
  if (!isAtEnd && endsOfType.includes(text[at] as string)) return true
  return declaration !== undefined && (isAtEnd || declaration.isPart === true || text[at] === '<')
}

interface Base {
  readonly node: TypeNode
  /** True for a name without type arguments, after which `<` would still be possible. */
  readonly isName: boolean
  /** The types in parentheses. If an arrow follows, the types are the parameters of a function type. */
  readonly parameters?: readonly TypeParameter[]
}

function readBase(reader: SourceReader, declaration: DeclarationOptions | undefined): Base {
  const start = reader.at
  const baseOf = (node: TypeNode): Base => ({ node, isName: false })
  if (startsNumber(reader)) {
    const { value, end } = readNumber(reader)
    const written = reader.text.slice(start, end)
    return baseOf({ kind: 'literal', value: value as bigint | number, written, start, end })
  }
  if (startsString(reader)) {
    const text = readString(reader, () => {
      throw reader.expected('type')
    })
    const value = text.kind === 'literal' ? (text.value as string) : ''
    return baseOf({ kind: 'literal', value, start, end: reader.at })
  }
  if (reader.skips('[')) {
    const elements = readParameters(reader, ']', declaration).map(({ type }) => type)
    return baseOf({ kind: 'tuple', elements, start, end: reader.at })
  }
  if (reader.skips('(')) {
    const parameters = readParameters(reader, ')', declaration)
    const [only] = parameters
    const isGroup = parameters.length === 1 && only !== undefined
    const elements = parameters.map(({ type }) => type)
    const range = { start, end: reader.at }
    const node: TypeNode = isGroup ? { ...only.type, ...range } : { kind: 'tuple', elements, ...range }
    return { node, isName: false, parameters }
  }
  if (reader.skips('{')) return baseOf(readFields(reader, start, declaration))
  if (!reader.startsName) throw reader.expected('type')
  return readName(reader, declaration)
}

/** If no type follows a `<` in a declaration, the `<` does not begin type arguments. */
function startsType(reader: SourceReader): boolean {
  reader.skipSpace()
  const isBracket = [char.open, char.openBracket, char.openBrace].some(each => each === reader.unit())
  return isBracket || reader.startsName || startsNumber(reader) || startsString(reader)
}

function readName(reader: SourceReader, declaration: DeclarationOptions | undefined): Base {
  const start = reader.at
  reader.anyName()
  while (reader.unit() === char.dot && reader.text.charCodeAt(reader.at + 1) !== char.dot) {
    reader.at++
    reader.anyName()
  }
  const end = reader.at
  const name = reader.text.slice(start, end)
  if (name === 'true' || name === 'false') {
    return { node: { kind: 'literal', value: name === 'true', start, end }, isName: true }
  }
  reader.skipBlanks()
  if (!reader.skips('<') || (declaration !== undefined && !startsType(reader))) {
    reader.at = end
    return { node: { kind: 'name', name, arguments: [], start, end }, isName: true }
  }
  const given = readParameters(reader, '>', declaration).map(({ type }) => type)
  return { node: { kind: 'name', name, arguments: given, start, end: reader.at }, isName: false }
}

/** In parentheses, the types are parameters, which may have names and may be rest parameters. */
function readParameters(
  reader: SourceReader,
  bracket: ']' | ')' | '>',
  declaration: DeclarationOptions | undefined,
): readonly TypeParameter[] {
  const types: TypeParameter[] = []
  reader.separated(bracket, () => {
    const name = bracket === ')' ? readParameterName(reader) : undefined
    const isRest = bracket === ')' && reader.skips('...')
    if (isRest) reader.skipSpace()
    types.push({ name, isRest, type: readType(reader, declaration) })
  })
  return types
}

function readParameterName(reader: SourceReader): string | undefined {
  const start = reader.at
  if (!reader.startsName) return undefined
  const name = reader.anyName()
  reader.skipBlanks()
  if (reader.skips(':')) {
    reader.skipSpace()
    return name
  }
  reader.at = start
  return undefined
}

function readFields(
  reader: SourceReader,
  start: number,
  declaration: DeclarationOptions | undefined,
): TypeNode {
  const members: TypeMember[] = []
  const checkKey = reader.keyCheck()
  let wildcard: TypeNode | undefined
  let isOpen = false
  let open: { readonly what: string; readonly start: number; readonly end: number } | undefined
  reader.skipSpace()
  while (!reader.skips('}')) {
    const memberStart = reader.at
    const { from, member, what } = readMember(reader, declaration)
    const end = reader.at
    if (open !== undefined) {
      const remarks = [reader.remark('hint', `${open.what} defined here`, open.start, open.end)]
      reader.addFault(msg`${open.what} must be the last element in an object`, memberStart, end, { remarks })
    }
    if (what !== undefined) open = { what, start: from, end }
    if (what === 'Wildcard') wildcard = member?.type
    else if (member === undefined) isOpen = true
    else {
      checkKey(member.name, member.start, member.end)
      members.push(member)
    }
    separateFields(reader)
  }
  return { kind: 'object', members, wildcard, isOpen, start, end: reader.at }
}

/** `what`: a name for messages, if the member must be the last in the object. */
function readMember(reader: SourceReader, declaration: DeclarationOptions | undefined) {
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
    } else if (reader.startsName) name = reader.anyName()
    else throw reader.expected('`}`')
  }
  const end = reader.at
  reader.skipBlanks()
  reader.requires(':')
  reader.skipSpace()
  const from = reader.at
  const type = readType(reader, declaration)
  const defaultValue = isWildcard ? undefined : readDefaultValue(reader, declaration)
  const member: TypeMember = { name, type, defaultValue, start, end }
  return { from, what: isWildcard ? 'Wildcard' : undefined, member }
}

/** Reads the default value after the type of a field. Returns undefined in annotations, or without a default value. */
function readDefaultValue(
  reader: SourceReader,
  declaration: DeclarationOptions | undefined,
): Node | undefined {
  if (declaration === undefined) return undefined
  const before = reader.at
  reader.skipBlanks()
  if (!reader.skips('=')) {
    reader.at = before
    return undefined
  }
  reader.skipSpace()
  return declaration.readDefault()
}

function separateFields(reader: SourceReader): void {
  const before = reader.at
  reader.skipSpace()
  const newline = reader.text.slice(before, reader.at).includes('\n')
  if (reader.skips(',') || reader.skips(';')) reader.skipSpace()
  else if (!newline && reader.unit() !== char.closeBrace) throw reader.expected('`,`', '`}`')
}
