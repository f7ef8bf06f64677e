// The types of the arguments of `create`, `update` and `replace`, and of the terms of indexes.

import type { Path } from '../../model/schema/paths.ts'
import type { TypeNode } from '../syntax/nodes.ts'
import {
  anyType,
  mapParts,
  namedType,
  nullType,
  numberType,
  optional,
  type RecordType,
  type Type,
  unionOf,
} from './terms.ts'

export interface DeclaredField {
  readonly name: string
  readonly node: TypeNode
  readonly type: Type
  readonly hasDefault: boolean
}

/** Determines the arguments of a collection's writing methods. */
export interface Declaration {
  readonly fields: readonly DeclaredField[]
  readonly wildcard: Type | undefined
  /** True if documents may have their own time to live. */
  readonly hasTtls: boolean
}

const idType = namedType('ID')
const timeType = namedType('Time')

/** Fields of every document. */
export const metadata: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['id', idType],
  ['ts', timeType],
  ['ttl', optional(timeType)],
])

/** The argument types of the methods that write documents, by the name of the method. */
export function argumentsOf({
  fields,
  wildcard,
  hasTtls,
}: Declaration): Readonly<Record<string, RecordType>> {
  const reserved: [string, Type][] = []
  // Without entries of their own, reserved names would be fields that the wildcard accepts.
  if (hasTtls) reserved.push(['ttl', optional(timeType)])
  else if (wildcard !== undefined) reserved.push(['ttl', nullType])
  if (wildcard !== undefined) reserved.push(['data', nullType])
  const required = fields.map(each => [each.name, requiredType(each)] as const)
  const partial = fields.map(({ name, node, type }) => [name, optional(inputType(node, type, true))] as const)
  const record = (...entries: readonly (readonly [string, Type])[]): RecordType => ({
    kind: 'record',
    fields: new Map(entries),
    wildcard,
  })
  return {
    create: record(['id', optional(idType)], ...reserved, ...required),
    createData: record(...required),
    update: record(...reserved, ...partial),
    updateData: record(...partial),
    replace: record(...reserved, ...required),
    replaceData: record(...required),
  }
}

function requiredType({ node, type, hasDefault }: DeclaredField): Type {
  const input = inputType(node, type, false)
  return hasDefault || isOptional(node) ? optional(input) : input
}

/** All members of an update may be absent. For other writes, only members with a default may be absent. */
function inputType(node: TypeNode, type: Type, isUpdate: boolean): Type {
  if (node.kind !== 'object' || type.kind !== 'record') return withNumbers(type)
  const fields = new Map(
    node.members.map(({ name, type: member, defaultValue }) => {
      const input = inputType(member, type.fields.get(name) ?? anyType, isUpdate)
      const mayBeAbsent = isUpdate || defaultValue !== undefined || isOptional(member)
      return [name, mayBeAbsent ? optional(input) : input]
    }),
  )
  return { ...type, fields, wildcard: type.wildcard && withNumbers(type.wildcard) }
}

/** True if an empty object fits, because all members have defaults. */
function isOptional(node: TypeNode): boolean {
  if (node.kind !== 'object' || node.members.length === 0) return false
  return node.members.every(({ type, defaultValue }) => defaultValue !== undefined || isOptional(type))
}

const narrow: ReadonlySet<string> = new Set(['Int', 'Long', 'Double', 'Float'])

/** Arithmetic results in `Number`, whatever the types of the numbers are. */
function withNumbers(type: Type): Type {
  if (type.kind === 'named' && narrow.has(type.name)) return numberType
  return type.kind === 'variable' ? type : mapParts(type, withNumbers)
}

/** The type of a term of an index. `first` returns the type of a field of the document. */
export function termType(
  first: (name: string) => Type | undefined,
  path: Path,
  mva: boolean,
  unfold: (type: Type) => Type,
): Type {
  const [start, ...steps] = path
  let type: Type = (typeof start === 'string' ? first(start) : undefined) ?? anyType
  for (const step of steps) type = stepType(unfold(type), step, unfold)
  return mva ? elementType(unfold(type)) : type
}

function stepType(type: Type, step: string | bigint, unfold: (type: Type) => Type): Type {
  switch (type.kind) {
    case 'record':
      return (typeof step === 'string' ? type.fields.get(step) : undefined) ?? type.wildcard ?? anyType
    case 'tuple':
      return (typeof step === 'bigint' ? type.elements[Number(step)] : undefined) ?? anyType
    case 'named':
      return (type.name === 'Array' && typeof step === 'bigint' ? type.args[0] : undefined) ?? anyType
    case 'union':
      return unionOf(type.members.map(each => stepType(unfold(each), step, unfold)))
    default:
      return anyType
  }
}

function elementType(type: Type): Type {
  switch (type.kind) {
    case 'named':
      return type.name === 'Array' ? (type.args[0] ?? anyType) : type
    case 'tuple':
      return unionOf(type.elements)
    case 'union':
      return unionOf(type.members.map(elementType))
    default:
      return type
  }
}
