// Converts the static type of a field (its signature, such as `Ref<Author>`) to the stored type. Reports types whose
// values cannot be stored.

import { catchError } from '../../base/catch-error.ts'
import type { Message } from '../../base/message.ts'
import { anyType, type FieldType, nullType, type ScalarName } from '../../model/schema/field-types.ts'
import { unionOf } from '../../model/schema/type-check.ts'
import type { FindCollection, ReadSignature, ReferredCollection } from '../../model/session.ts'
import { type Diagnostic, QueryFailure, type Remark } from '../failure/query-failure.ts'
import type { TypeNode } from '../syntax/nodes.ts'
import { parseSignature } from '../syntax/parse-query.ts'
import { Source, type Span } from '../syntax/source.ts'
import { innerNodesOf, resolveType } from '../typing/annotations.ts'
import type { Shape } from '../typing/environment.ts'
import { libraryShapes } from '../typing/library.ts'
import { schemeText } from '../typing/print.ts'
import type { NamedType, RecordType, Type } from '../typing/terms.ts'

interface ResolvedSignature {
  /** Invalid parts of the signature are `Any`. */
  readonly type: FieldType
  readonly faults: readonly Diagnostic[]
  /** The types in the signature whose values cannot be stored. */
  readonly unstorable: readonly Remark[]
}

const scalars = 'Boolean String Time Date Bytes UUID Int Long Double Number'.split(' ') as ScalarName[]

/** Types without type parameters, by name. `Float` is a second name of `Double`. */
const plainTypes: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ...scalars.map((name): [string, FieldType] => [name, { kind: 'scalar', name }]),
  ['Float', { kind: 'scalar', name: 'Double' }],
  ['Null', nullType],
])

/**
 * A half of a reference type. `Ref<Jar>` means `Jar | NullJar`: `Jar` is the type of an existing document, and
 * `NullJar` is the type of a missing document.
 */
interface ReferenceHalf {
  readonly kind: 'document' | 'null document'
  readonly collection: ReferredCollection
  readonly type: NamedType
}

type Part = FieldType | ReferenceHalf

const isHalf = (part: Part): part is ReferenceHalf =>
  part.kind === 'document' || part.kind === 'null document'

type ObjectNode = Extract<TypeNode, { kind: 'object' }>

class SignatureConversion {
  readonly unstorable: Remark[] = []
  readonly #find: FindCollection
  readonly #source: Source
  /** The object types of the signature by their positions. Static types contain no default values. */
  readonly #objects: ReadonlyMap<number, ObjectNode>

  constructor(source: Source, find: FindCollection, node: TypeNode) {
    this.#source = source
    this.#find = find
    this.#objects = new Map(objectsIn(node).map(each => [each.start, each]))
  }

  /** Converts a type, and records the types in it whose values cannot be stored. */
  type(type: Type): FieldType {
    const parts =
      type.kind === 'union' ? joinHalves(type.members.map(each => this.#part(each))) : [this.#part(type)]
    const members = parts.flatMap(part => this.#whole(part))
    return members.length === 0 ? anyType : unionOf(members)
  }

  /** Half of a reference type cannot be stored. */
  #whole(part: Part): FieldType[] {
    if (!isHalf(part)) return [part]
    const { collection, type } = part
    this.#reject(type)
    // A type such as `EmptyRef<Jar>` is already a reference.
    if (type.args.length === 0) {
      const suggestion = `Ref<${collection.name}>`
      const message = `Use ${suggestion} as the type of a reference to a ${collection.name} document`
      this.unstorable.push({ name: 'hint', message, span: type.span, suggestion })
    }
    return []
  }

  #reject(type: Type): FieldType {
    const text = schemeText({ parameters: [], type, text: '' })
    this.unstorable.push({ name: 'cause', message: `Type ${text} is not persistable`, span: type.span })
    return anyType
  }

  #part(type: Type): Part {
    switch (type.kind) {
      case 'any':
        return anyType
      case 'literal':
        return { kind: 'literal', value: type.value }
      case 'tuple':
        return { kind: 'tuple', elements: type.elements.map(each => this.type(each)) }
      case 'record':
        return this.#object(type)
      case 'named':
        return this.#named(type)
      default:
        return this.#reject(type)
    }
  }

  #object({ fields, span, wildcard }: RecordType): FieldType {
    const members = (span && this.#objects.get(span.start)?.members) ?? []
    const defaults = new Map(members.map(({ defaultValue, name }) => [name, defaultValue]))
    const textOf = (name: string) => {
      const node = defaults.get(name)
      return node && this.#source.text.slice(node.start, node.end)
    }
    return {
      kind: 'object',
      fields: new Map(
        [...fields].map(([name, type]) => [name, { type: this.type(type), defaultValue: textOf(name) }]),
      ),
      wildcard: wildcard && this.type(wildcard),
    }
  }

  #named(type: NamedType): Part {
    const { args, name } = type
    const [argument] = args
    const plain = plainTypes.get(name)
    if (plain !== undefined) return plain
    if (argument === undefined) return this.#half(type) ?? this.#reject(type)
    if (name === 'Array') return { kind: 'array', element: this.type(argument) }
    const collection = argument.kind === 'named' ? this.#find(argument.name) : undefined
    if (collection !== undefined && name === 'Ref') return referenceTo(collection)
    if (collection !== undefined && name === 'EmptyRef') return { kind: 'null document', collection, type }
    return this.#reject(type)
  }

  #half(type: NamedType): ReferenceHalf | undefined {
    const { name } = type
    const collection = this.#find(name)
    if (collection !== undefined) return { kind: 'document', collection, type }
    const missing = name.startsWith('Null') ? this.#find(name.slice(4)) : undefined
    return missing && { kind: 'null document', collection: missing, type }
  }
}

function objectsIn(node: TypeNode): readonly ObjectNode[] {
  const inner = innerNodesOf(node).flatMap(objectsIn)
  return node.kind === 'object' ? [node, ...inner] : inner
}

function referenceTo({ name, number }: ReferredCollection): FieldType {
  return { kind: 'reference', collection: number, name }
}

/**
 * If both halves of a collection's reference type are among `parts`, replaces them with the reference type, at the
 * position of the first half.
 */
function joinHalves(parts: readonly Part[]): Part[] {
  const partners = new Set<Part>()
  return parts.flatMap((part): Part[] => {
    if (partners.has(part)) return []
    if (!isHalf(part)) return [part]
    const other = parts.find(
      each => isHalf(each) && each.kind !== part.kind && each.collection.number === part.collection.number,
    )
    if (other === undefined) return [part]
    partners.add(other)
    return [referenceTo(part.collection)]
  })
}

const documentShape: Shape = { parameters: [], fields: new Map(), isDocument: true }
const otherShape: Shape = { parameters: [], fields: new Map() }

/** The shape of a type, without its members. */
function shapeOf(name: string, find: FindCollection): Shape | undefined {
  const known = libraryShapes.get(name)
  if (known !== undefined) return known
  if (find(name) !== undefined) return documentShape
  const isNull = name.startsWith('Null') && find(name.slice(4)) !== undefined
  return isNull ? otherShape : undefined
}

/** `source` contains the text of the signature. */
export function resolveSignature(node: TypeNode, source: Source, find: FindCollection): ResolvedSignature {
  const faults: Diagnostic[] = []
  const error = (message: Message, span: Span | undefined) => faults.push({ name: 'error', message, span })
  const { type } = resolveType(node, {
    source,
    shape: name => shapeOf(name, find),
    genericLevel: undefined,
    error,
    // The only warning is about an unknown type, which is a fault in a signature.
    warning: error,
  })
  const conversion = new SignatureConversion(source, find, node)
  return { type: conversion.type(type), faults, unstorable: conversion.unstorable }
}

/** A signature with syntax errors is treated as `Any`. */
export const readSignature: ReadSignature = (signature, find) => {
  const source = new Source('*signature*', signature)
  const resolved = () => resolveSignature(parseSignature(source), source, find).type
  return catchError(QueryFailure, resolved, () => anyType)
}
