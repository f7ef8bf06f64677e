// Parses types: annotations (`let x:`), field signatures, and types in schema files. A query ignores its annotations at
// run time.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { readNumber, readString, startsNumber, startsString } from './literals.ts'
import type { Node, TypeMember, TypeNode, TypeParameter } from './nodes.ts'
import { code, type SourceReader } from './reader.ts'

/** Options for a type in a declaration, as opposed to an annotation in a query. */
interface DeclarationOptions {
  /** Parses the default expression after `=` in object types. */
  readonly readDefault: () => Node
  /** True if the caller parses the text after the type. */
  readonly isPart?: boolean
}

export function readType(reader: SourceReader, declaration?: DeclarationOptions): TypeNode {
  if (reader.typesAround > limits.v10NestingMax)
    throw reader.fault(msg`The query is nested too deeply`, reader.at, reader.at + 1)
  reader.typesAround++
  const type = readWholeType(reader, declaration)
  reader.typesAround--
  return type
}

function readWholeType(reader: SourceReader, declaration: DeclarationOptions | undefined): TypeNode {
  const start = reader.at
  const operands: TypeNode[] = []
  let kind: 'union' | 'intersection' = 'union'
  for (;;) {
    const { isName, node: base, parameters } = readBase(reader, declaration)
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
      const result = readType(reader, declaration)
      const given =
        operands.length === 1 && parameters !== undefined
          ? parameters
          : [unnamed(typeOfOperands(operands, kind))]
      return { kind: 'function', parameters: given, result, start, end: result.end }
    } else {
      const mayGoOn = isEndOfType(reader) || (declaration !== undefined && next === code.less)
      if (isName && !mayGoOn && !endsHere(reader, declaration)) throw reader.expected('`<`', '`=`')
      reader.at = end
      return typeOfOperands(operands, kind)
    }
  }
}

/**
 * In a query, text must follow an annotation. In a declaration, the type may be at the end of the text. If `isPart` is
 * true, the caller checks the text after the type.
 */
function endsHere(reader: SourceReader, declaration: DeclarationOptions | undefined): boolean {
  return declaration !== undefined && (declaration.isPart === true || reader.at >= reader.text.length)
}

function unnamed(type: TypeNode): TypeParameter {
  return { name: undefined, isRest: false, type }
}

function typeOfOperands(operands: readonly TypeNode[], kind: 'union' | 'intersection'): TypeNode {
  const first = operands[0] as TypeNode
  if (operands.length === 1) return first
  return { kind, members: operands, start: first.start, end: (operands.at(-1) as TypeNode).end }
}

/** The characters that may follow a name without type arguments. */
const endsOfType = '=\n\r,;)]}>/'

function isEndOfType({ text, at }: SourceReader): boolean {
  return at < text.length && endsOfType.includes(text[at] as string)
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
  const named = (node: TypeNode): Base => ({ node, isName: false })
  if (startsNumber(reader)) {
    const { value, end } = readNumber(reader)
    const written = reader.text.slice(start, end)
    return named({ kind: 'literal', value: value as bigint | number, written, start, end })
  }
  if (startsString(reader)) {
    const text = readString(reader, () => {
      throw reader.expected('type')
    })
    const value = text.kind === 'literal' ? (text.value as string) : ''
    return named({ kind: 'literal', value, start, end: reader.at })
  }
  if (reader.skips('[')) {
    const elements = readParameters(reader, ']', declaration).map(({ type }) => type)
    return named({ kind: 'tuple', elements, start, end: reader.at })
  }
  if (reader.skips('(')) {
    const parameters = readParameters(reader, ')', declaration)
    const [only] = parameters
    const isGroup = parameters.length === 1 && only !== undefined
    const elements = parameters.map(({ type }) => type)
    const place = { start, end: reader.at }
    const node: TypeNode = isGroup ? { ...only.type, ...place } : { kind: 'tuple', elements, ...place }
    return { node, isName: false, parameters }
  }
  if (reader.skips('{')) return named(readFields(reader, start, declaration))
  if (!reader.isName) throw reader.expected('type')
  return readName(reader, declaration)
}

/** If no type follows a `<` in a declaration, the `<` does not begin type arguments. */
function startsType(reader: SourceReader): boolean {
  reader.lines()
  const isBracket = [code.open, code.openBracket, code.openBrace].some(each => each === reader.unit())
  return isBracket || reader.isName || startsNumber(reader) || startsString(reader)
}

function readName(reader: SourceReader, declaration: DeclarationOptions | undefined): Base {
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
    if (isRest) reader.lines()
    types.push({ name, isRest, type: readType(reader, declaration) })
  })
  return types
}

function readParameterName(reader: SourceReader): string | undefined {
  const start = reader.at
  if (!reader.isName) return undefined
  const name = reader.anyName()
  reader.blanks()
  if (reader.skips(':')) {
    reader.lines()
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
  const names = new Map<string, TypeMember>()
  let wildcard: TypeNode | undefined
  let isOpen = false
  let open: { readonly what: string; readonly start: number; readonly end: number } | undefined
  reader.lines()
  while (!reader.skips('}')) {
    const memberStart = reader.at
    const { from, member, what } = readMember(reader, declaration)
    const end = reader.at
    if (open !== undefined) {
      const remarks = [reader.remark('hint', `${open.what} defined here`, open.start, open.end)]
      reader.record(msg`${open.what} must be the last element in an object`, memberStart, end, { remarks })
    }
    if (what !== undefined) open = { what, start: from, end }
    if (what === 'Wildcard') wildcard = member?.type
    else if (member === undefined) isOpen = true
    else {
      noteName(reader, member, names)
      members.push(member)
    }
    separateFields(reader)
  }
  return { kind: 'object', members, wildcard, isOpen, start, end: reader.at }
}

function noteName(reader: SourceReader, member: TypeMember, names: Map<string, TypeMember>): void {
  const first = names.get(member.name)
  if (first === undefined) names.set(member.name, member)
  else {
    const remarks = [reader.remark('hint', 'Key originally used here', first.start, first.end)]
    reader.record(msg`Duplicate key`, member.start, member.end, { remarks })
  }
}

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
    } else if (reader.isName) name = reader.anyName()
    else throw reader.expected('`}`')
  }
  const end = reader.at
  reader.blanks()
  reader.requires(':')
  reader.lines()
  const from = reader.at
  const type = readType(reader, declaration)
  const defaultValue = isWildcard ? undefined : readValue(reader, declaration)
  const member: TypeMember = { name, type, defaultValue, start, end }
  return { from, what: isWildcard ? 'Wildcard' : undefined, member }
}

/** The default value follows the type of a field. Undefined in annotations, and if it is missing. */
function readValue(reader: SourceReader, declaration: DeclarationOptions | undefined): Node | undefined {
  if (declaration === undefined) return undefined
  const before = reader.at
  reader.blanks()
  if (!reader.skips('=')) {
    reader.at = before
    return undefined
  }
  reader.lines()
  return declaration.readDefault()
}

function separateFields(reader: SourceReader): void {
  const before = reader.at
  reader.lines()
  const newline = reader.text.slice(before, reader.at).includes('\n')
  if (reader.skips(',') || reader.skips(';')) reader.lines()
  else if (!newline && reader.unit() !== code.closeBrace) throw reader.expected('`,`', '`}`')
}
