// The environment of the library: global names and shapes.

import { upsert } from '../../base/upsert.ts'
import { definitionOf, type Members, membersOfModule } from '../library/entry.ts'
import { schemaModule } from '../library/globals.ts'
import { nativeNumber, natives, typeOfModule } from '../library/natives.ts'
import { globals, typeTables } from '../library/tables.ts'
import { Module } from '../value.ts'
import { librarySignature } from './annotations.ts'
import type { Scheme, Shape } from './environment.ts'
import { absentMembers, type ShapeText, shapeTexts } from './shape-texts.ts'
import { mapParts, type Type } from './terms.ts'

/** Parses a signature when it is first used. */
class SignatureScheme implements Scheme {
  readonly text: string
  #parsed: Scheme | undefined

  constructor(text: string) {
    this.text = text
  }

  get #scheme(): Scheme {
    this.#parsed ??= librarySignature(this.text)
    return this.#parsed
  }

  get parameters(): readonly string[] {
    return this.#scheme.parameters
  }

  get type(): Scheme['type'] {
    return this.#scheme.type
  }
}

const schemes = new Map<string, Scheme>()

/** Equal texts have the same scheme. */
function schemeOf(text: string): Scheme {
  return upsert(schemes, text, () => new SignatureScheme(text))
}

/** The names of the types of a collection, by the names in types of entries: `Doc`, `NullDoc` and `DocCollection`. */
export type DocumentNames = ReadonlyMap<string, string>

export function documentNames(document: string, collection: string): DocumentNames {
  return new Map([
    ['Doc', document],
    ['NullDoc', `Null${document}`],
    ['DocCollection', collection],
  ])
}

/** A scheme in which the names of a collection's types replace general names such as `Doc`. */
class MemberScheme implements Scheme {
  readonly #general: Scheme
  readonly #names: DocumentNames
  #type: Type | undefined

  constructor(general: Scheme, names: DocumentNames) {
    this.#general = general
    this.#names = names
  }

  get text(): string {
    return this.#general.text.replace(/\w+/g, word => this.#names.get(word) ?? word)
  }

  get parameters(): readonly string[] {
    return this.#general.parameters
  }

  get type(): Type {
    this.#type ??= this.#renamed(this.#general.type)
    return this.#type
  }

  #renamed(type: Type): Type {
    const inner = mapParts(type, part => this.#renamed(part))
    const name = inner.kind === 'named' ? this.#names.get(inner.name) : undefined
    return inner.kind === 'named' && name !== undefined ? { ...inner, name } : inner
  }
}

export function memberScheme(text: string, names: DocumentNames): Scheme {
  return new MemberScheme(schemeOf(text), names)
}

export function memberSchemes(
  texts: Iterable<readonly [name: string, text: string]>,
  names: DocumentNames,
): Map<string, Scheme> {
  return new Map([...texts].map(([name, text]) => [name, memberScheme(text, names)]))
}

export function typeTexts({ entries }: Members): [name: string, text: string][] {
  return [...entries].map(([name, { type }]) => [name, type])
}

/** The types of the members of documents without the key, which is a field in the type of the document. */
export function textsWithoutKey(documents: Members): [name: string, text: string][] {
  return typeTexts(documents).filter(([name]) => name !== 'id' && name !== 'name')
}

export const libraryNames: ReadonlyMap<string, Scheme> = new Map(
  [...globals].map(([name, value]) => [
    name,
    schemeOf(value instanceof Module ? typeOfModule(value) : definitionOf(value).type),
  ]),
)

/** Built once, because the shapes of the library do not depend on the database. */
export const libraryShapes: ReadonlyMap<string, Shape> = new Map([
  ...typeShapes(),
  ...[...globals.values()].flatMap(value =>
    value instanceof Module && nativeNumber(value) === undefined
      ? [[typeOfModule(value), moduleShape(membersOfModule(value))] as const]
      : [],
  ),
  [`${schemaModule.name}Module`, moduleShape(schemaModule)],
  ...natives.flatMap(nativeShapes),
])

function schemesOf(texts: Iterable<readonly [name: string, text: string]>): Map<string, Scheme> {
  return new Map([...texts].map(([name, text]) => [name, schemeOf(text)]))
}

function shapeOf(text: ShapeText, name: string): Shape {
  const { access, alias, apply, fields = {}, operators, parameters = [], self } = text
  return {
    parameters,
    self: parameters.length === 0 ? self : `<${parameters.join(', ')}> ${name}<${parameters.join(', ')}>`,
    fields: schemesOf(Object.entries(fields)),
    ...(operators && { operators: schemesOf(Object.entries(operators)) }),
    ...(apply !== undefined && { apply: schemeOf(apply) }),
    ...(access !== undefined && { access: schemeOf(access) }),
    ...(alias !== undefined && { alias: schemeOf(alias) }),
  }
}

function typeShapes(): Map<string, Shape> {
  const shapes = new Map(Object.entries(shapeTexts).map(([name, text]) => [name, shapeOf(text, name)]))
  for (const table of Object.values(typeTables)) {
    // Functions have function types.
    if (table.name === 'Function') continue
    const shape = shapes.get(table.name) ?? shapeOf({}, table.name)
    shapes.set(table.name, { ...shape, fields: schemesOf(typeTexts(table)) })
  }
  const { fields } = shapes.get('Number') as Shape
  for (const name of ['Int', 'Long', 'Double', 'Float']) {
    shapes.set(name, { ...(shapes.get(name) as Shape), fields })
  }
  return shapes
}

function moduleShape(table: Members): Shape {
  return {
    parameters: [],
    fields: schemesOf(typeTexts(table)),
    ...(table.apply && { apply: schemeOf(table.apply.type) }),
    hint: 'module',
  }
}

/** The shapes of a native collection, its documents, and its missing documents. */
function nativeShapes({ documents, module, type }: (typeof natives)[number]): [string, Shape][] {
  const collectionType = typeOfModule(module)
  const names = documentNames(type, collectionType)
  const table = membersOfModule(module)
  const collection: Shape = {
    parameters: [],
    fields: memberSchemes(typeTexts(table), names),
    ...(table.apply && { apply: memberScheme(table.apply.type, names) }),
    hint: 'server_collection',
  }
  const present: Shape = {
    ...shapeOf(shapeTexts[type] ?? {}, type),
    fields: memberSchemes(textsWithoutKey(documents), names),
    isDocument: true,
  }
  const absent = absentShape(documents.entries.has('id') ? 'id' : 'name', names)
  return [
    [collectionType, collection],
    [type, present],
    [`Null${type}`, absent],
  ]
}

export function absentShape(key: 'id' | 'name', names: DocumentNames): Shape {
  return {
    parameters: [],
    fields: memberSchemes(Object.entries(absentMembers[key]), names),
    alias: schemeOf('Null'),
  }
}
