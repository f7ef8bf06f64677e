// Resolves the signature of a field (its type as text, such as `Ref<Author>`) to the stored type. Reports unknown
// names, and types whose values cannot be stored.

import { catchError } from '../../base/catch-error.ts'
import { type Message, msg } from '../../base/message.ts'
import {
  anyObject,
  anyType,
  type FieldType,
  type MemberType,
  nullType,
  type ScalarName,
  typeText,
} from '../../model/schema/field-types.ts'
import { unionOf } from '../../model/schema/type-check.ts'
import type { FindCollection, ReadSignature, ReferredCollection } from '../../model/session.ts'
import { type Diagnostic, QueryFailure, type Remark } from '../failure/query-failure.ts'
import type { TypeNode } from '../syntax/nodes.ts'
import { parseSignature } from '../syntax/parse-query.ts'
import { Source, type Span } from '../syntax/source.ts'

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
  ['Any', anyType],
  ['Null', nullType],
  ['Object', anyObject],
])

/** Types whose values cannot be stored, each with the number of its type parameters. */
const unstorableTypes: ReadonlyMap<string, number> = new Map([
  ['ID', 0],
  ['Set', 1],
  ['SetCursor', 0],
  ['EventSource', 1],
  ['TransactionTime', 0],
  ['Never', 0],
  ['NamedRef', 1],
  ['EmptyNamedRef', 1],
])

/** Other built-in types. Each of them has one type parameter. */
const otherNames: ReadonlySet<string> = new Set(['Array', 'Ref', 'EmptyRef'])

/**
 * A half of a reference type. `Ref<Jar>` means `Jar | NullJar`: `Jar` is the type of an existing document, and
 * `NullJar` is the type of a missing document.
 */
interface ReferenceHalf {
  readonly kind: 'document' | 'null document'
  readonly collection: ReferredCollection
  readonly node: TypeNode
}

type Part = FieldType | ReferenceHalf

const isHalf = (part: Part): part is ReferenceHalf =>
  part.kind === 'document' || part.kind === 'null document'

class Resolver {
  readonly faults: Diagnostic[] = []
  readonly unstorable: Remark[] = []
  readonly #source: Source
  readonly #find: FindCollection

  constructor(source: Source, find: FindCollection) {
    this.#source = source
    this.#find = find
  }

  #span({ start, end }: { readonly start: number; readonly end: number }): Span {
    return { source: this.#source, start, end }
  }

  #fault(message: Message, node: Pick<TypeNode, 'start' | 'end'>): void {
    this.faults.push({ name: 'error', message, span: this.#span(node) })
  }

  #reject(node: TypeNode): void {
    const message = `Type ${nodeText(node)} is not persistable`
    this.unstorable.push({ name: 'cause', message, span: this.#span(node) })
  }

  /** Records the types in the expression whose values cannot be stored. */
  type(node: TypeNode): FieldType {
    const members = this.#parts(node).flatMap(part => this.#whole(part))
    return members.length === 0 ? anyType : unionOf(members)
  }

  #whole(part: Part): FieldType[] {
    if (!isHalf(part)) return [part]
    this.#reject(part.node)
    const { collection, node } = part
    // A type such as `EmptyRef<Jar>` is already a reference.
    if (node.kind === 'name' && node.arguments.length === 0) {
      const suggestion = `Ref<${collection.name}>`
      const message = `Use ${suggestion} as the type of a reference to a ${collection.name} document`
      this.unstorable.push({ name: 'hint', message, span: this.#span(node), suggestion })
    }
    return []
  }

  /** The members of a union, or the type itself. The two halves of a reference type are combined. */
  #parts(node: TypeNode): Part[] {
    if (node.kind === 'optional') return [...this.#parts(node.inner), nullType]
    if (node.kind !== 'union') return [this.#single(node)]
    return joinHalves(node.members.flatMap(each => this.#parts(each)))
  }

  #single(node: TypeNode): Part {
    switch (node.kind) {
      case 'literal':
        return { kind: 'literal', value: node.value }
      case 'tuple':
        return { kind: 'tuple', elements: node.elements.map(each => this.type(each)) }
      case 'object': {
        const fields = new Map<string, MemberType>()
        for (const { name, type, defaultValue } of node.members) {
          const text = defaultValue && this.#source.text.slice(defaultValue.start, defaultValue.end)
          fields.set(name, { type: this.type(type), defaultValue: text })
        }
        const wildcard = node.wildcard && this.type(node.wildcard)
        return { kind: 'object', fields, wildcard }
      }
      case 'name':
        return this.#named(node)
      default:
        this.#reject(node)
        return anyType
    }
  }

  #named(node: Extract<TypeNode, { kind: 'name' }>): Part {
    const { name } = node
    const plain = plainTypes.get(name)
    if (plain !== undefined) return this.#counted(node, 0, () => plain)
    switch (name) {
      case 'Array':
        return this.#counted(node, 1, ([element]) => ({
          kind: 'array',
          element: this.type(element as TypeNode),
        }))
      case 'Ref':
        return this.#counted(node, 1, ([target]) => this.#reference(target as TypeNode, node))
      case 'EmptyRef':
        return this.#counted(node, 1, ([target]) => this.#half('null document', target as TypeNode, node))
    }
    const parameters = unstorableTypes.get(name)
    if (parameters !== undefined) {
      return this.#counted(node, parameters, () => {
        this.#reject(node)
        return anyType
      })
    }
    return this.#counted(node, 0, () => this.#document(node))
  }

  #counted(
    node: Extract<TypeNode, { kind: 'name' }>,
    count: number,
    make: (given: readonly TypeNode[]) => Part,
  ): Part {
    const given = node.arguments
    if (given.length === count) return make(given)
    const text =
      count === 0
        ? msg`Type \`${node.name}\` does not accept any parameters.`
        : msg`Type constructor \`${node.name}<>\` accepts ${count} parameters, received ${given.length}`
    this.#fault(text, { start: node.start, end: node.start + node.name.length })
    return anyType
  }

  #reference(target: TypeNode, node: TypeNode): FieldType {
    const collection = this.#collection(target)
    if (collection !== undefined) {
      return { kind: 'reference', collection: collection.number, name: collection.name }
    }
    this.#rejectUnknown(target)
    this.#fault(msg`Reference type must refer to a doc type`, node)
    return anyType
  }

  #half(kind: ReferenceHalf['kind'], target: TypeNode, node: TypeNode): Part {
    const collection = this.#collection(target)
    if (collection !== undefined) return { kind, collection, node }
    this.#rejectUnknown(target)
    return anyType
  }

  #rejectUnknown(target: TypeNode): void {
    if (target.kind !== 'name' || plainTypes.has(target.name) || otherNames.has(target.name)) return
    this.#fault(msg`Unknown type \`${target.name}\``, target)
  }

  #document(node: Extract<TypeNode, { kind: 'name' }>): Part {
    const collection = this.#find(node.name)
    if (collection !== undefined) return { kind: 'document', collection, node }
    const missing = node.name.startsWith('Null') ? this.#find(node.name.slice(4)) : undefined
    if (missing !== undefined) return { kind: 'null document', collection: missing, node }
    this.#fault(msg`Unknown type \`${node.name}\``, node)
    return anyType
  }

  #collection(target: TypeNode): ReferredCollection | undefined {
    return target.kind === 'name' && target.arguments.length === 0 ? this.#find(target.name) : undefined
  }
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
    return [{ kind: 'reference', collection: part.collection.number, name: part.collection.name }]
  })
}

/** The canonical spelling of a type expression. */
function nodeText(node: TypeNode): string {
  switch (node.kind) {
    case 'name':
      return node.arguments.length === 0
        ? node.name
        : `${node.name}<${node.arguments.map(nodeText).join(', ')}>`
    case 'literal':
      return typeText(node)
    case 'tuple':
      return `[${node.elements.map(nodeText).join(', ')}]`
    case 'object':
      return `{ ${node.members.map(({ name, type }) => `${name}: ${nodeText(type)}`).join(', ')} }`
    case 'union':
      return node.members.map(nodeText).join(' | ')
    case 'intersection':
      return node.members.map(nodeText).join(' & ')
    case 'optional':
      return `${nodeText(node.inner)} | Null`
    case 'function': {
      const given = node.parameters.map(({ type }) => nodeText(type))
      return `${given.length === 1 ? given[0] : `(${given.join(', ')})`} => ${nodeText(node.result)}`
    }
  }
}

/** `source` contains the text of the signature. */
export function resolveSignature(node: TypeNode, source: Source, find: FindCollection): ResolvedSignature {
  const resolver = new Resolver(source, find)
  const type = resolver.type(node)
  return { type, faults: resolver.faults, unstorable: resolver.unstorable }
}

/** A signature with syntax errors is treated as `Any`. */
export const readSignature: ReadSignature = (signature, find) => {
  const source = new Source('*signature*', signature)
  const resolved = () => resolveSignature(parseSignature(source), source, find).type
  return catchError(QueryFailure, resolved, () => anyType)
}
