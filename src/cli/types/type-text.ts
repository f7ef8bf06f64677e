// Converts a type of a schema to a TypeScript type, depending on its use. For example, a document in a field of
// another document becomes a reference, and an input accepts more types than a result.

import type { TypeNode } from '../../fql10/syntax/nodes.ts'
import type { ValueClasses } from './value-classes.ts'

/** `field`: of a received document. `result`: of a function. `input`: a sent value. */
type TypeUse = 'field' | 'result' | 'input'

export interface TypeNames {
  readonly classes: ValueClasses
  /** The type of a collection's documents. `name`: the name or alias of the collection. */
  readonly collectionType: (name: string) => string | undefined
  /** Imports a name from the client package into the declarations, and returns the name. */
  readonly imported: (name: string) => string
}

type NamedType = Extract<TypeNode, { readonly kind: 'name' }>
type ObjectType = Extract<TypeNode, { readonly kind: 'object' }>

const scalars: Readonly<Record<string, string>> = {
  Never: 'never',
  Null: 'null',
  Boolean: 'boolean',
  String: 'string',
  ID: 'string',
  Int: 'number',
}

/** Native documents whose types have a name. */
const namedDocuments: ReadonlySet<string> = new Set([
  'CollectionDef',
  'FunctionDef',
  'Role',
  'AccessProvider',
  'Database',
])
/**
 * Fields of native documents without a named type. `secret` is present only in the result of the call that creates the
 * document.
 */
const ownDocuments: Readonly<Record<string, (reference: () => string) => string>> = {
  Key: () => '{ readonly role: string; readonly secret?: string }',
  Token: reference => `{ readonly document: ${reference()}; readonly secret?: string }`,
  Credential: reference => `{ readonly document: ${reference()} }`,
}

/** A property of an interface or an object, in parts. */
export interface Property {
  readonly name: string
  readonly isOptional: boolean
  /** Members of the property's union type. */
  readonly types: readonly string[]
}

/** The result contains {@link anyText} where the schema does not determine the type of the client's value. */
export function typeText(type: TypeNode, use: TypeUse, names: TypeNames): string {
  return unionText(alternatives(type, use, names))
}

/** Returns the type of a value that the schema does not describe. */
export function anyText({ classes, imported }: TypeNames): string {
  return classes.any === 'unknown' ? classes.any : imported(classes.any)
}

/** Has no duplicates; `unknown` absorbs all other members. */
function unionText(types: readonly string[]): string {
  return types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | ')
}

/** Puts the text in parentheses if it contains an operator. */
function groupedText(type: TypeNode, use: TypeUse, names: TypeNames): string {
  const text = typeText(type, use, names)
  return / [|&] |^readonly /.test(text) ? `(${text})` : text
}

/** Returns an alternative for each member of a union, otherwise usually one. */
function alternatives(type: TypeNode, use: TypeUse, names: TypeNames): readonly string[] {
  switch (type.kind) {
    case 'name':
      return namedTypes(type, use, names)
    case 'literal':
      return [typeof type.value === 'string' ? JSON.stringify(type.value) : String(type.value)]
    case 'tuple':
      return [
        `${arrayModifier(names.classes)}[${type.elements.map(each => typeText(each, use, names)).join(', ')}]`,
      ]
    case 'object':
      return [objectText(type, use, names)]
    case 'union':
      return type.members.flatMap(each => alternatives(each, use, names))
    case 'intersection':
      return [type.members.map(each => groupedText(each, use, names)).join(' & ')]
    case 'optional':
      return [...alternatives(type.inner, use, names), 'null']
    case 'function':
      return [anyText(names)]
  }
}

const arrayModifier = ({ takesReadonlyArrays }: ValueClasses) => (takesReadonlyArrays ? 'readonly ' : '')

function namedTypes(type: NamedType, use: TypeUse, names: TypeNames): readonly string[] {
  const { classes, imported } = names
  const [parameter] = type.arguments
  const isInput = use === 'input'
  const scalar = Object.hasOwn(scalars, type.name) ? scalars[type.name] : undefined
  if (scalar !== undefined) return [scalar]
  switch (type.name) {
    case 'Any':
      return [anyText(names)]
    case 'Long':
    case 'Number':
      return [classes.long === undefined ? 'number' : imported(classes.long)]
    case 'Double':
    case 'Float':
      return isInput && classes.double !== undefined ? ['number', imported(classes.double)] : ['number']
    case 'Time':
    case 'TransactionTime':
      return [imported(classes.time), ...(isInput ? ['Date'] : [])]
    case 'Date':
      return [imported(classes.date)]
    case 'Bytes':
      return ['Uint8Array', ...(isInput ? ['ArrayBuffer'] : [])]
    case 'UUID':
      return [classes.uuid === undefined ? anyText(names) : imported(classes.uuid)]
    case 'Array':
      return [`${arrayModifier(classes)}${parameter ? groupedText(parameter, use, names) : anyText(names)}[]`]
    // The client receives a set in a document as a cursor, and reads the elements with it.
    case 'Set':
      return isInput
        ? ['never']
        : [`${imported(classes.page)}<${parameter ? typeText(parameter, 'result', names) : anyText(names)}>`]
    case 'EventSource':
      return [imported(classes.eventSource)]
    case 'Module':
      return [imported(classes.module)]
    case 'Ref':
      return parameter?.kind === 'name' ? referenceTypes(parameter.name, use, names) : [anyText(names)]
    default:
      return documentTypes(type.name, use, names)
  }
}

/** Returns the types of `Ref<C>`, a document that may be missing. */
function referenceTypes(collection: string, use: TypeUse, names: TypeNames): readonly string[] {
  const types = documentTypes(collection, use, names)
  return use === 'result' ? [...types, names.imported(names.classes.nullDocument)] : types
}

function documentTypes(name: string, use: TypeUse, names: TypeNames): readonly string[] {
  const { classes, collectionType, imported } = names
  const document =
    collectionType(name) ??
    (Object.hasOwn(ownDocuments, name) ? ownDocumentText(name, names) : undefined) ??
    (namedDocuments.has(name) ? imported(classes.namedDocument) : undefined)
  if (document === undefined) {
    const isNull = name.startsWith('Null') && collectionType(name.slice('Null'.length)) !== undefined
    return [isNull ? imported(classes.nullDocument) : anyText(names)]
  }
  if (use === 'result') return [document]
  const { hasParameter, name: reference } = classes.reference
  const text = hasParameter ? `${imported(reference)}<${document}>` : imported(reference)
  return use === 'input' ? [text, document] : [text]
}

function ownDocumentText(name: string, { classes, imported }: TypeNames): string {
  const fields = ownDocuments[name]?.(() => imported(classes.reference.name))
  return `${imported(classes.document)} & ${fields}`
}

function objectText(type: ObjectType, use: TypeUse, names: TypeNames): string {
  const properties = type.members.map(({ name, type: inner, defaultValue }) =>
    property(name, inner, defaultValue !== undefined, use, names),
  )
  const others = type.isOpen ? [anyText(names)] : type.wildcard && alternatives(type.wildcard, use, names)
  const members = properties.map(propertyText)
  if (others) members.push(indexSignature(others, properties))
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`
}

/** Formats the signature of undeclared fields, which TypeScript requires to include the types of declared fields. */
export function indexSignature(types: readonly string[], properties: readonly Property[]): string {
  const known = properties.flatMap(each => [...each.types, ...(each.isOptional ? ['undefined'] : [])])
  return `readonly [field: string]: ${unionText([...types, ...known])}`
}

/**
 * A null field is equivalent to an absent field: the service omits null fields, and accepts null for optional fields.
 */
export function property(
  name: string,
  type: TypeNode,
  hasDefault: boolean,
  use: TypeUse,
  names: TypeNames,
): Property {
  const values = alternatives(type, use, names).filter(each => each !== 'null')
  const isInput = use === 'input'
  const isOptional = acceptsNull(type) || (hasDefault && isInput)
  return {
    name,
    isOptional,
    types: isOptional && (isInput || values.length === 0) ? [...values, 'null'] : values,
  }
}

export function propertyText({ name, isOptional, types }: Property): string {
  return `readonly ${propertyName(name)}${isOptional ? '?' : ''}: ${unionText(types)}`
}

/** True if a value of the type may be null or absent. */
function acceptsNull(type: TypeNode): boolean {
  switch (type.kind) {
    case 'optional':
      return true
    case 'union':
      return type.members.some(acceptsNull)
    case 'name':
      return type.name === 'Null' || type.name === 'Any'
    default:
      return false
  }
}

/** Quotes the name if necessary. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
