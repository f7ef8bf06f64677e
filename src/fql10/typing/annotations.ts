// Converts type expressions to types: annotations of `let`, signatures of the schema, and texts of the library.

import { type Message, msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import type { TypeNode } from '../syntax/nodes.ts'
import { parseSignature } from '../syntax/parse-query.ts'
import { Source, type Span } from '../syntax/source.ts'
import type { Scheme, Shape } from './environment.ts'
import {
  anyType,
  type GenericType,
  neverType,
  optional,
  type ParameterType,
  type Type,
  unionOf,
  Variable,
} from './terms.ts'

interface ResolveOptions {
  readonly error: (message: Message, span: Span | undefined) => void
  readonly warning: (message: Message, span: Span | undefined) => void
  readonly source: Source
  readonly shape: (name: string) => Shape | undefined
  /**
   * The level of the type parameters. Undefined for the signature of a field, which must not contain type parameters
   * or the placeholder `_`.
   */
  readonly genericLevel: number | undefined
}

interface TypeResolution {
  readonly type: Type
  readonly generics: readonly GenericType[]
}

/** Lower-case names that beginners use. Outside of fields, these names cause only a warning. */
const misspelt: Readonly<Record<string, string>> = {
  any: 'Any',
  null: 'Null',
  number: 'Number',
  string: 'String',
  boolean: 'Boolean',
}

/** Faulty parts of the type are `Any`. */
export function resolveType(node: TypeNode, options: ResolveOptions): TypeResolution {
  const resolver = new Resolver(options)
  const generics =
    options.genericLevel === undefined ? new Map() : resolver.generics(node, options.genericLevel)
  const type = resolver.type(node, generics)
  return { type, generics: [...generics.values()] }
}

type Generics = ReadonlyMap<string, GenericType>

class Resolver {
  readonly #options: ResolveOptions
  readonly #unknown = new Set<string>()

  constructor(options: ResolveOptions) {
    this.#options = options
  }

  #span({ start, end }: { readonly start: number; readonly end: number }): Span {
    return { source: this.#options.source, start, end }
  }

  /** The type parameters: unknown names that occur both as arguments and as results. */
  generics(root: TypeNode, level: number): Generics {
    const found = new Map<string, { readonly node: TypeNode; asArgument: boolean; asResult: boolean }>()
    const visit = (node: TypeNode, isResult: boolean): void => {
      if (node.kind === 'name' && node.arguments.length === 0 && this.#isUnknown(node.name)) {
        const known = upsert(found, node.name, () => ({ node, asArgument: false, asResult: false }))
        if (isResult) known.asResult = true
        else known.asArgument = true
      }
      if (node.kind === 'function') {
        for (const { type } of node.parameters) visit(type, !isResult)
        visit(node.result, isResult)
      } else for (const part of innerNodesOf(node)) visit(part, isResult)
    }
    visit(root, true)
    const generics = new Map<string, GenericType>()
    for (const [name, { node, asArgument, asResult }] of found) {
      if (asArgument && asResult) generics.set(name, { kind: 'generic', name, level, span: this.#span(node) })
    }
    return generics
  }

  #isUnknown(name: string): boolean {
    return name !== 'Any' && name !== 'Never' && name !== '_' && this.#options.shape(name) === undefined
  }

  type(node: TypeNode, generics: Generics): Type {
    return typeOf(
      node,
      name => this.#named(name, generics),
      part => this.#span(part),
    )
  }

  #named(node: NameNode, generics: Generics): Type {
    const { name, start } = node
    const span = this.#span(node)
    const nameSpan = this.#span({ start, end: start + name.length })
    // Only fields have the type `Object`: annotations and functions write `{ *: Any }`.
    const isObject = name === 'Object' && this.#options.genericLevel === undefined
    const isBuiltIn = isObject || name === 'Any' || name === 'Never'
    if (isBuiltIn && node.arguments.length > 0) {
      this.#options.error(msg`Type \`${name}\` does not accept any parameters.`, nameSpan)
      return anyType
    }
    if (name === 'Any') return { ...anyType, span }
    if (name === 'Never') return { ...neverType, span }
    if (isObject) return { kind: 'record', fields: new Map(), wildcard: anyType, span }
    const generic = generics.get(name)
    if (generic !== undefined) return { ...generic, span }
    if (name === '_') {
      if (this.#options.genericLevel !== undefined) return new Variable(this.#options.genericLevel, span)
      this.#options.error(msg`Invalid placeholder type \`_\`.`, span)
      return anyType
    }
    const shape = this.#options.shape(name)
    if (shape === undefined) return this.#unknownName(name, nameSpan)
    const args = node.arguments.map(each => this.type(each, generics))
    const count = shape.parameters.length
    if (args.length !== count) {
      const text =
        count === 0
          ? msg`Type \`${name}\` does not accept any parameters.`
          : msg`Type constructor \`${name}<>\` accepts ${count} parameters, received ${args.length}`
      this.#options.error(text, nameSpan)
      return anyType
    }
    if ((name === 'Ref' || name === 'EmptyRef') && !this.#isDocument(args[0])) {
      this.#options.error(msg`Reference type must refer to a doc type`, span)
      return anyType
    }
    return { kind: 'named', name, args, span }
  }

  #isDocument(type: Type | undefined): boolean {
    return type?.kind === 'named' && this.#options.shape(type.name)?.isDocument === true
  }

  #unknownName(name: string, span: Span): Type {
    const meant = Object.hasOwn(misspelt, name) ? misspelt[name] : undefined
    if (meant !== undefined && this.#options.genericLevel !== undefined) {
      this.#options.warning(msg`Unknown type \`${name}\`. Did you mean \`${meant}\`?`, span)
    } else if (!this.#unknown.has(name)) {
      this.#unknown.add(name)
      this.#options.error(msg`Unknown type \`${name}\``, span)
    }
    return anyType
  }
}

type NameNode = TypeNode & { kind: 'name' }

/** `named` converts a name with its arguments. */
function typeOf(
  node: TypeNode,
  named: (node: NameNode) => Type,
  spanOf: (node: TypeNode) => Span | undefined,
): Type {
  const of = (part: TypeNode) => typeOf(part, named, spanOf)
  const span = spanOf(node)
  switch (node.kind) {
    case 'name':
      return named(node)
    case 'literal':
      return { kind: 'literal', value: node.value, span }
    case 'tuple':
      return { kind: 'tuple', elements: node.elements.map(of), span }
    case 'optional':
      return optional(of(node.inner))
    case 'union':
      return unionOf(flat('union', node.members.map(of)), span)
    case 'intersection':
      return { kind: 'intersection', members: flat('intersection', node.members.map(of)), span }
    case 'object':
      return objectType(node, of, span)
    case 'function': {
      const parameters: ParameterType[] = []
      let rest: ParameterType | undefined
      for (const { name, isRest, type } of node.parameters) {
        if (isRest) rest = { name, type: of(type) }
        else parameters.push({ name, type: of(type) })
      }
      return { kind: 'function', parameters, rest, result: of(node.result), span }
    }
  }
}

/** An open object type is an intersection of its fields. */
function objectType(
  { isOpen, members, wildcard }: TypeNode & { kind: 'object' },
  of: (node: TypeNode) => Type,
  span: Span | undefined,
): Type {
  const fields = new Map(members.map(({ name, type }) => [name, of(type)]))
  if (!isOpen) return { kind: 'record', fields, wildcard: wildcard && of(wildcard), span }
  const open = [...fields].map(([field, type]): Type => ({ kind: 'open', field, type, span }))
  const [only] = open
  if (only === undefined) return anyType
  return open.length === 1 ? only : { kind: 'intersection', members: open, span }
}

function flat(kind: 'union' | 'intersection', members: readonly Type[]): Type[] {
  return members.flatMap(each => (each.kind === kind ? each.members : [each]))
}

/** The type expressions within a type expression, without those of functions. */
export function innerNodesOf(node: TypeNode): readonly TypeNode[] {
  switch (node.kind) {
    case 'name':
      return node.arguments
    case 'tuple':
      return node.elements
    case 'object':
      return [
        ...node.members.map(({ type }) => type),
        ...(node.wildcard === undefined ? [] : [node.wildcard]),
      ]
    case 'union':
    case 'intersection':
      return node.members
    case 'optional':
      return [node.inner]
    default:
      return []
  }
}

const prefix = /^<([^>]*)> /

/** Parses types such as `<A, B> (mapper: A => B) => Array<B>`. */
export function librarySignature(text: string): Scheme {
  const [start = '', names = ''] = prefix.exec(text) ?? []
  const parameters = names === '' ? [] : names.split(', ')
  const node = parseSignature(new Source('*library*', text.slice(start.length)))
  return { parameters, type: libraryType(node, new Set(parameters)), text }
}

/** All names in a type of the library exist, and its types have no position. */
function libraryType(node: TypeNode, parameters: ReadonlySet<string>): Type {
  const named = ({ name, arguments: args }: NameNode): Type => {
    if (name === 'Any') return anyType
    if (name === 'Never') return neverType
    if (parameters.has(name)) return { kind: 'generic', name, level: 0 }
    return { kind: 'named', name, args: args.map(each => libraryType(each, parameters)) }
  }
  return typeOf(node, named, () => undefined)
}
