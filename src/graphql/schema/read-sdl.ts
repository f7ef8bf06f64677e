// Reads the text of a schema (SDL) that a client imports. Rejects definitions that the hosted service did not support:
// interfaces, unions, custom scalars, subscriptions, and names that begin with `_`. Ignores `schema` and `directive`.

import type {
  ConstDirectiveNode,
  DefinitionNode,
  DocumentNode,
  EnumTypeDefinitionNode,
  EnumTypeExtensionNode,
  FieldDefinitionNode,
  InputObjectTypeDefinitionNode,
  InputObjectTypeExtensionNode,
  InputValueDefinitionNode,
  ObjectTypeDefinitionNode,
  ObjectTypeExtensionNode,
  TypeNode,
} from 'graphql'
import { catchError } from '../../base/catch-error.ts'
import { step, stepsPerDefinition } from '../../base/effort.ts'
import { SchemaError } from '../errors.ts'
import type { Library } from '../library.ts'
import { checkText, graphqlLimits } from '../limits.ts'
import { DocumentLines, describeSyntaxError } from '../operation/messages.ts'
import { tokensOf } from '../text/tokens.ts'
import { scalarNames } from '../wire/scalar-names.ts'
import type {
  ArgumentDefinition,
  DirectiveUse,
  EnumDefinition,
  FieldDefinition,
  InputDefinition,
  ObjectDefinition,
  SchemaDefinition,
  TypeRef,
} from './definitions.ts'

/** The arguments of each directive, and their kinds. */
const knownDirectives: Readonly<Record<string, Readonly<Record<string, 'text' | 'flag'>>>> = {
  collection: { name: 'text' },
  deprecated: { reason: 'text' },
  embedded: {},
  generateUDFResolvers: {},
  index: { name: 'text' },
  relation: { name: 'text' },
  resolver: { name: 'text', paginated: 'flag' },
  unique: { index: 'text' },
}

/** Throws {@link SchemaError} for invalid text and unsupported definitions. */
export function readSdl(text: string, library: Library): SchemaDefinition {
  if (text.length > graphqlLimits.sdlUnitsMax)
    throw new SchemaError(`The schema is too long. Max: ${graphqlLimits.sdlUnitsMax} characters.`)
  checkText(text, graphqlLimits.sdlTokensMax, message => new SchemaError(message))
  const document = catchError(
    library.GraphQLError,
    () => library.parse(withoutEmptyBodies(text), { noLocation: false }),
    error => {
      throw new SchemaError(describeSyntaxError(error, new DocumentLines(text), 'schema definition'))
    },
  )
  return new Reader(library).read(document)
}

/** Replaces empty bodies, which the library does not accept, by blanks. Offsets and lines stay the same. */
function withoutEmptyBodies(text: string): string {
  let result = ''
  let from = 0
  let open: number | undefined
  for (const { end, start } of tokensOf(text)) {
    const character = end === start + 1 ? text[start] : undefined
    if (character === '}' && open !== undefined) {
      result += `${text.slice(from, open)} ${text.slice(open + 1, start)} `
      from = end
    }
    open = character === '{' ? start : undefined
  }
  return result + text.slice(from)
}

class Reader {
  readonly #library: Library
  readonly #objects = new Map<string, ObjectDefinition>()
  readonly #inputs = new Map<string, InputDefinition>()
  readonly #enums = new Map<string, EnumDefinition>()
  readonly #roots = new Map<string, Map<string, FieldDefinition>>([
    ['Query', new Map()],
    ['Mutation', new Map()],
  ])
  readonly #defined = new Set<string>()

  constructor(library: Library) {
    this.#library = library
  }

  read(document: DocumentNode): SchemaDefinition {
    const { definitions } = document
    const isExtension = ({ kind }: DefinitionNode) => kind.endsWith('Extension')
    for (const definition of definitions.filter(each => !isExtension(each))) this.#define(definition)
    for (const definition of definitions.filter(isExtension)) this.#define(definition)
    const fieldsOf = (name: string) => [...(this.#roots.get(name)?.values() ?? [])]
    return {
      objects: [...this.#objects.values()],
      inputs: [...this.#inputs.values()],
      enums: [...this.#enums.values()],
      queries: fieldsOf('Query'),
      mutations: fieldsOf('Mutation'),
    }
  }

  #define(node: DefinitionNode): void {
    step(stepsPerDefinition)
    const kinds = this.#library.Kind
    switch (node.kind) {
      case kinds.OBJECT_TYPE_DEFINITION:
      case kinds.OBJECT_TYPE_EXTENSION:
        this.#object(node)
        return
      case kinds.INPUT_OBJECT_TYPE_DEFINITION:
      case kinds.INPUT_OBJECT_TYPE_EXTENSION:
        this.#input(node)
        return
      case kinds.ENUM_TYPE_DEFINITION:
      case kinds.ENUM_TYPE_EXTENSION:
        this.#enum(node)
        return
      case kinds.SCALAR_TYPE_DEFINITION:
        if (scalarNames.has(node.name.value)) return
        throw unsupported(`scalar '${node.name.value}'`, 'Custom scalars')
      case kinds.INTERFACE_TYPE_DEFINITION:
        throw unsupported(`interface '${node.name.value}'`, 'Interfaces')
      case kinds.UNION_TYPE_DEFINITION:
        throw unsupported(`union '${node.name.value}'`, 'Unions')
      case kinds.SCHEMA_DEFINITION:
      case kinds.SCHEMA_EXTENSION:
      case kinds.DIRECTIVE_DEFINITION:
        return
      case kinds.OPERATION_DEFINITION:
      case kinds.FRAGMENT_DEFINITION:
        throw new SchemaError('A schema cannot contain operations or fragments.')
      default:
        throw unsupported(`definition ${node.kind}`, 'Such definitions')
    }
  }

  #object(node: ObjectTypeDefinitionNode | ObjectTypeExtensionNode): void {
    const name = checkName(node.name.value)
    if ((node.interfaces ?? []).length > 0) throw unsupported(`type '${name}' with interfaces`, 'Interfaces')
    if (name === 'Subscription') throw unsupported(`type '${name}'`, 'Subscriptions')
    const fields = (node.fields ?? []).map(field => this.#field(name, field))
    const root = this.#roots.get(name)
    if (root !== undefined) {
      addFields(name, root, fields)
      return
    }
    const known = this.#known(this.#objects, node.kind, name)
    const all = new Map((known?.fields ?? []).map(field => [field.name, field]))
    addFields(name, all, fields)
    const directives = [...(known?.directives ?? []), ...this.#directives(node.directives, name)]
    this.#objects.set(name, { ...described(known, node), name, fields: [...all.values()], directives })
  }

  #field(owner: string, node: FieldDefinitionNode): FieldDefinition {
    const name = checkName(node.name.value)
    return {
      ...described(undefined, node),
      name,
      type: typeOf(node.type, this.#library.Kind),
      arguments: (node.arguments ?? []).map(argument => this.#argument(argument)),
      directives: this.#directives(node.directives, `${owner}.${name}`),
    }
  }

  #argument(node: InputValueDefinitionNode): ArgumentDefinition {
    const { defaultValue } = node
    return {
      ...described(undefined, node),
      name: checkName(node.name.value),
      type: typeOf(node.type, this.#library.Kind),
      ...(defaultValue && { defaultValue: this.#library.print(defaultValue) }),
    }
  }

  #input(node: InputObjectTypeDefinitionNode | InputObjectTypeExtensionNode): void {
    const name = checkName(node.name.value)
    const known = this.#known(this.#inputs, node.kind, name)
    const fields = new Map((known?.fields ?? []).map(field => [field.name, field]))
    const added = (node.fields ?? []).map(field => this.#argument(field))
    addFields(name, fields, added)
    this.#inputs.set(name, { ...described(known, node), name, fields: [...fields.values()] })
  }

  #enum(node: EnumTypeDefinitionNode | EnumTypeExtensionNode): void {
    const name = checkName(node.name.value)
    const known = this.#known(this.#enums, node.kind, name)
    const values = new Map((known?.values ?? []).map(value => [value.name, value]))
    const added = (node.values ?? []).map(value => ({
      ...described(undefined, value),
      name: checkName(value.name.value),
    }))
    addFields(name, values, added)
    this.#enums.set(name, { ...described(known, node), name, values: [...values.values()] })
  }

  /** Returns the type that an extension extends; undefined for a definition. Throws if a type is defined twice. */
  #known<T>(types: ReadonlyMap<string, T>, kind: string, name: string): T | undefined {
    const known = types.get(name)
    if (kind.endsWith('Extension')) {
      if (known === undefined) throw new SchemaError(`The extended type '${name}' is not defined.`)
      return known
    }
    if (this.#defined.has(name)) throw new SchemaError(`The type '${name}' is defined twice.`)
    if (scalarNames.has(name)) throw new SchemaError(`The name '${name}' belongs to a scalar.`)
    this.#defined.add(name)
    return undefined
  }

  #directives(nodes: readonly ConstDirectiveNode[] | undefined, coordinate: string): DirectiveUse[] {
    const kinds = this.#library.Kind
    return (nodes ?? []).flatMap(node => {
      const name = node.name.value
      const known = Object.hasOwn(knownDirectives, name) ? knownDirectives[name] : undefined
      if (known === undefined) throw new SchemaError(`Unknown directive '${name}' at '${coordinate}'.`)
      const args = (node.arguments ?? []).map(argument => {
        const key = argument.name.value
        const { value } = argument
        const kind = Object.hasOwn(known, key) ? known[key] : undefined
        if (kind === undefined)
          throw new SchemaError(`Unknown argument '${key}' of the directive '@${name}' at '${coordinate}'.`)
        if (kind === 'text' && value.kind === kinds.STRING) return [key, value.value] as const
        if (kind === 'flag' && value.kind === kinds.BOOLEAN) return [key, value.value] as const
        throw new SchemaError(
          `Invalid value of the argument '${key}' of the directive '@${name}' at '${coordinate}'.`,
        )
      })
      return name === 'deprecated' ? [] : [{ name, args: Object.fromEntries(args) }]
    })
  }
}

function unsupported(definition: string, kind: string): SchemaError {
  return new SchemaError(`Unsupported ${definition}. ${kind} are not supported.`)
}

function checkName(name: string): string {
  if (name.startsWith('_'))
    throw new SchemaError(`The name '${name}' is invalid: names that begin with '_' are reserved.`)
  return name
}

/** Throws if a name occurs twice. */
function addFields<T extends { readonly name: string }>(
  owner: string,
  known: Map<string, T>,
  added: readonly T[],
): void {
  for (const each of added) {
    if (known.has(each.name)) throw new SchemaError(`'${owner}.${each.name}' is defined twice.`)
    known.set(each.name, each)
  }
}

function described(
  known: { readonly description?: string } | undefined,
  node: object,
): { readonly description?: string } {
  const given = (node as { readonly description?: { readonly value: string } }).description
  const description = given?.value ?? known?.description
  return description === undefined ? {} : { description }
}

function typeOf(node: TypeNode, kinds: Library['Kind']): TypeRef {
  switch (node.kind) {
    case kinds.NAMED_TYPE:
      return { kind: 'named', name: node.name.value }
    case kinds.LIST_TYPE:
      return { kind: 'list', of: typeOf(node.type, kinds) }
    case kinds.NON_NULL_TYPE:
      return { kind: 'non-null', of: typeOf(node.type, kinds) }
  }
}
