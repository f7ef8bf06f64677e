// The schema of a database in the form in which a client imports it: types, inputs, enums, and the fields of `Query` and
// `Mutation`. The generated schema (generated-sdl.ts) and the stored metadata (metadata.ts) are derived from this form.

export type TypeRef =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'list'; readonly of: TypeRef }
  | { readonly kind: 'non-null'; readonly of: TypeRef }

export interface DirectiveUse {
  readonly name: string
  readonly args: Readonly<Record<string, string | boolean>>
}

/** An argument of a field, or a field of an input. */
export interface ArgumentDefinition {
  readonly name: string
  readonly description?: string
  readonly type: TypeRef
  /** The default value as a GraphQL literal. */
  readonly defaultValue?: string
}

/** A field of an object type, of `Query` or of `Mutation`. */
export interface FieldDefinition {
  readonly name: string
  readonly description?: string
  readonly type: TypeRef
  readonly arguments: readonly ArgumentDefinition[]
  readonly directives: readonly DirectiveUse[]
}

export interface ObjectDefinition {
  readonly name: string
  readonly description?: string
  readonly fields: readonly FieldDefinition[]
  readonly directives: readonly DirectiveUse[]
}

export interface InputDefinition {
  readonly name: string
  readonly description?: string
  readonly fields: readonly ArgumentDefinition[]
}

export interface EnumDefinition {
  readonly name: string
  readonly description?: string
  readonly values: readonly { readonly name: string; readonly description?: string }[]
}

export interface SchemaDefinition {
  readonly objects: readonly ObjectDefinition[]
  readonly inputs: readonly InputDefinition[]
  readonly enums: readonly EnumDefinition[]
  readonly queries: readonly FieldDefinition[]
  readonly mutations: readonly FieldDefinition[]
}

/** Returns the name of the innermost type. */
export function namedType(type: TypeRef): string {
  return type.kind === 'named' ? type.name : namedType(type.of)
}

/** A list may be wrapped in `!`. */
export function isList(type: TypeRef): boolean {
  return type.kind === 'list' || (type.kind === 'non-null' && type.of.kind === 'list')
}

/** Removes the outermost `!`. */
export function nullable(type: TypeRef): TypeRef {
  return type.kind === 'non-null' ? type.of : type
}

export function withNamed(type: TypeRef, name: string): TypeRef {
  if (type.kind === 'named') return { kind: 'named', name }
  return { kind: type.kind, of: withNamed(type.of, name) }
}

/** Returns a text such as `[User!]!`. */
export function typeText(type: TypeRef): string {
  switch (type.kind) {
    case 'named':
      return type.name
    case 'list':
      return `[${typeText(type.of)}]`
    case 'non-null':
      return `${typeText(type.of)}!`
  }
}

export function directiveOf(
  { directives }: { readonly directives: readonly DirectiveUse[] },
  name: string,
): DirectiveUse | undefined {
  return directives.find(each => each.name === name)
}

/** Embedded types have no collection. */
export function isEmbedded(object: ObjectDefinition): boolean {
  return directiveOf(object, 'embedded') !== undefined
}

/** Returns undefined if the argument is missing or no text. */
export function directiveText(
  definition: { readonly directives: readonly DirectiveUse[] },
  name: string,
  argument: string,
): string | undefined {
  const value = directiveOf(definition, name)?.args[argument]
  return typeof value === 'string' ? value : undefined
}

export function collectionName(object: ObjectDefinition): string {
  return directiveText(object, 'collection', 'name') ?? object.name
}

export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
