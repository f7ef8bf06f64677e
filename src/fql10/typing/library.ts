// The environment of the library: global names and shapes.

import { librarySignature } from './annotations.ts'
import type { Scheme, Shape } from './environment.ts'
import { libraryGlobals, libraryModules, libraryTypes } from './library-text.ts'

/** Parses a signature when it is first used. */
class LazyScheme implements Scheme {
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

/** The name of the module, the type of its documents, and the key of the documents. */
const collections = [
  ['AccessProvider', 'AccessProvider', 'name'],
  ['Collection', 'CollectionDef', 'name'],
  ['Credential', 'Credential', 'id'],
  ['Database', 'DatabaseDef', 'name'],
  ['Function', 'FunctionDef', 'name'],
  ['Key', 'Key', 'id'],
  ['Role', 'Role', 'name'],
  ['Token', 'Token', 'id'],
] as const

/** The range of `all`, and of indexes. */
export const rangeText = '{ from: Any } | { to: Any } | { from: Any, to: Any }'

export const libraryNames: ReadonlyMap<string, Scheme> = new Map([
  ...libraryModules.map(name => [name, new LazyScheme(`${name}Module`)] as const),
  ...linesOf(libraryGlobals).map(line => {
    const [name, text] = cut(line)
    return [name, new LazyScheme(text)] as const
  }),
])

/** Built once, because the shapes of the library do not depend on the database. */
export const libraryShapes: ReadonlyMap<string, Shape> = completed(readShapes())

type MutableShape = {
  -readonly [K in keyof Shape]: K extends 'fields' | 'operators' ? Map<string, Scheme> : Shape[K]
}

function linesOf(text: string): readonly string[] {
  return text.trim().split('\n')
}

function cut(line: string): [string, string] {
  const at = line.indexOf(' ')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
}

function emptyShape(self?: string): MutableShape {
  const parameters = self?.startsWith('<') ? self.slice(1, self.indexOf('>')).split(', ') : []
  return { self, parameters, fields: new Map() }
}

function readShapes(): Map<string, MutableShape> {
  const shapes = new Map<string, MutableShape>()
  let shape = emptyShape()
  for (const line of linesOf(libraryTypes)) {
    const [kind, rest] = cut(line)
    if (kind === 'type') {
      const [name, self] = cut(rest)
      shape = emptyShape(self === '' ? undefined : self)
      shapes.set(name, shape)
    } else addTo(shape, kind, rest)
  }
  return shapes
}

function addTo(shape: MutableShape, kind: string, rest: string): void {
  if (kind === 'field' || kind === 'op') {
    const [name, text] = cut(rest)
    shape.operators ??= new Map()
    const members = kind === 'field' ? shape.fields : shape.operators
    members.set(name, new LazyScheme(text))
  } else if (kind === 'apply' || kind === 'access' || kind === 'alias') shape[kind] = new LazyScheme(rest)
}

/** Adds the shapes and members that follow from names. */
function completed(shapes: Map<string, MutableShape>): Map<string, Shape> {
  const shapeOf = (name: string): MutableShape => {
    const known = shapes.get(name) ?? emptyShape()
    shapes.set(name, known)
    return known
  }
  for (const name of [...libraryModules, 'FQL.Schema']) shapeOf(`${name}Module`).hint = 'module'
  for (const name of ['Int', 'Long', 'Double', 'Float']) {
    shapes.set(name, { ...shapeOf('Number'), self: 'Number' })
  }
  for (const [module, document, key] of collections) {
    const collection = shapeOf(`${module}Collection`)
    collection.hint = 'server_collection'
    addCollectionMembers(collection, document, key)
    addDocumentMembers(shapeOf(document), shapeOf(`Null${document}`), module, document, key)
  }
  const fql = shapeOf('FQLModule')
  for (const [name, scheme] of libraryNames) if (name !== 'FQL') fql.fields.set(name, scheme)
  fql.fields.set('Schema', new LazyScheme('FQL.SchemaModule'))
  return shapes
}

function addCollectionMembers(shape: MutableShape, document: string, key: 'id' | 'name'): void {
  const texts = {
    ...collectionTexts(document),
    ...(key === 'id'
      ? { byId: `(id: ID) => Ref<${document}>` }
      : { byName: `(name: String) => NamedRef<${document}>` }),
  }
  for (const [name, text] of Object.entries(texts)) shape.fields.set(name, new LazyScheme(text))
  if (key === 'id') shape.apply = new LazyScheme(`(id: ID) => Ref<${document}>`)
}

/** The members of every collection, by name. */
export function collectionTexts(document: string): Readonly<Record<string, string>> {
  return {
    all: `(() => Set<${document}>) & ((range: ${rangeText}) => Set<${document}>)`,
    firstWhere: `(pred: (${document} => Boolean)) => ${document} | Null`,
    toString: '() => String',
    where: `(pred: (${document} => Boolean)) => Set<${document}>`,
  }
}

function addDocumentMembers(
  present: MutableShape,
  absent: MutableShape,
  module: string,
  document: string,
  key: 'id' | 'name',
): void {
  const writing = `(data: { *: Any }) => ${document}`
  const texts = {
    coll: `${module}Collection`,
    delete: `() => Null${document}`,
    exists: '() => true',
    replace: writing,
    update: writing,
  }
  for (const [name, text] of Object.entries(texts)) present.fields.set(name, new LazyScheme(text))
  present.isDocument = true
  absent.alias = new LazyScheme('Null')
  const absentTexts = absentMembers(`${module}Collection`, key)
  for (const [name, text] of Object.entries(absentTexts)) absent.fields.set(name, new LazyScheme(text))
}

/** The members of a missing document, by name. */
export function absentMembers(collection: string, key: 'id' | 'name'): Readonly<Record<string, string>> {
  return {
    [key]: key === 'id' ? 'ID' : 'String',
    coll: collection,
    exists: '() => false',
    toString: '() => String',
  }
}
