// Reads the schema of a database as text from which it can be recreated. Exports contain this text, unlike the exports
// of Fauna's hosted service.

import { printQuery } from '../fql4/text/index.ts'
import type { CollectionItem, SchemaItem } from '../fql10/schema/fsl/schema-items.ts'
import { type Json, type Micros, nativeOfKind, type SchemaKind } from '../values/value.ts'
import { writeJson } from '../values/write-json.ts'
import type { DatabasePath, TransferConnection } from './connection.ts'
import { schemaPaths } from './export-paths.ts'
import { isStub, isVersion4Collection, isVersion10Schema, readFsl, stubOf, supplementOf } from './fsl.ts'
import { allObjects, literal, object } from './query-json.ts'
import { namedKinds } from './references.ts'

const serviceFields: ReadonlySet<string> = new Set(['ref', 'ts', 'active', 'global_id', 'audience'])

interface SchemaText {
  /** Path of the file below the folder of the schema. */
  readonly file: string
  readonly text: string
}

/** Maps each collection to its declarations of fields and migrations in version 10, as text. */
export type DocumentShapes = ReadonlyMap<string, string>

/** Schema in the format of an export. */
export interface ExportSchema {
  readonly files: readonly SchemaText[]
  readonly shapes: DocumentShapes
  /** Child databases. */
  readonly children: readonly string[]
}

/**
 * Returns a `.fql` file per kind of object, and the keys with their hashes. Definitions that only version 10 can
 * express are in the schema files of version 10, and are not repeated in the `.fql` files. Schema files have no
 * history, so the caller must call this function soon after the time `at`.
 */
export async function readSchema(
  connection: TransferConnection,
  path: DatabasePath,
  at: Micros,
): Promise<ExportSchema> {
  const files: SchemaText[] = []
  const children: string[] = []
  const { isNeeded, plain, inFiles, shapes, texts: fslTexts } = await readSchemaFiles(connection, path)
  const all = new Map<string, readonly ReadonlyMap<string, Json>[]>()
  const everything = (native: string) =>
    allObjects(expr => connection.query(path, object({ at: BigInt(at), expr })), native)
  for (const native of Object.values(nativeOfKind)) all.set(native, (await everything(native)).sort(byName))
  const hasFiles =
    isNeeded || [...all].some(([native, objects]) => objects.some(each => isOfVersion10(native, each)))
  for (const kind of namedKinds) {
    const native = nativeOfKind[kind]
    const found = all.get(native) ?? []
    const isWhole = (each: ReadonlyMap<string, Json>) =>
      !hasFiles || !isInFiles(native, each, inFiles) || isOfVersion4(native, each, plain)
    const written = (each: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> | undefined => {
      const params = parameters(kind, each)
      if (isWhole(each)) return params
      return isStub(kind, String(each.get('name'))) ? stubOf(kind, params) : supplementOf(params)
    }
    const objects = found.map(written).filter(params => params !== undefined)
    if (native === 'databases') children.push(...objects.map(params => String(params.get('name'))))
    const texts = objects.map(params => printQuery(object({ [`create_${kind}`]: literal(params) })))
    if (texts.length > 0) files.push({ file: `${native}.fql`, text: `${texts.join('\n\n')}\n` })
  }
  const keys = (await everything('keys')).map(key => {
    const { ref, ts: _ts, ...fields } = Object.fromEntries(key)
    // The order in the response varies: `data` comes last if it was added to a key later.
    const sorted = Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1))
    return writeJson(new Map([['ref', ref as Json], ...sorted]))
  })
  if (keys.length > 0) files.push({ file: 'keys.jsonl', text: `${keys.join('\n')}\n` })
  if (hasFiles) files.push(...fslTexts)
  const graphql = await connection.graphqlSchema(path)
  if (graphql !== '') files.push({ file: 'schema.gql', text: graphql })
  return { files, shapes, children }
}

export async function readShapes(
  connection: TransferConnection,
  path: DatabasePath,
): Promise<DocumentShapes> {
  return (await readSchemaFiles(connection, path)).shapes
}

interface SchemaFiles {
  readonly shapes: DocumentShapes
  readonly texts: readonly SchemaText[]
  /** Objects that the files define: the native collection (such as `collections`), a blank, and the name. */
  readonly inFiles: ReadonlySet<string>
  /** Collections in the files that version 4 can express completely, each as `collections NAME`. */
  readonly plain: ReadonlySet<string>
  /** The export must contain the files, because version 4 cannot express them completely or the user wrote them. */
  readonly isNeeded: boolean
}

async function readSchemaFiles(connection: TransferConnection, path: DatabasePath): Promise<SchemaFiles> {
  const files = await connection.schemaFiles(path)
  const read = files.map(({ name, text }) => readFsl(name, text))
  const items = read.flatMap(each => each.items)
  const paths = schemaPaths(files.map(({ name }) => name))
  return {
    texts: files.map(({ name, text }) => ({ file: paths.get(name) as string, text })),
    inFiles: new Set(items.map(({ kind, name }) => `${nativeOf(kind)} ${name.text}`)),
    plain: new Set(items.filter(isVersion4Collection).map(({ name }) => `collections ${name.text}`)),
    isNeeded: isVersion10Schema(read),
    shapes: new Map(
      items.flatMap(item => (item.kind === 'collection' ? [[item.name.text, shapeOf(item)]] : [])),
    ),
  }
}

/** The native collection that contains an item of a schema file. */
function nativeOf(kind: SchemaItem['kind']): string {
  return nativeOfKind[kind.replace(' ', '_') as SchemaKind]
}

function shapeOf({ members, source }: CollectionItem): string {
  const declared = members.filter(({ kind }) => shapeMembers.has(kind))
  return declared.map(({ end, start }) => source.text.slice(start, end)).join('\n')
}

const shapeMembers: ReadonlySet<string> = new Set(['field', 'wildcard', 'migrations'])

/** Files cannot express `data` and `permissions` of a collection. */
function isInFiles(native: string, each: ReadonlyMap<string, Json>, inFiles: ReadonlySet<string>): boolean {
  const hasOwnFields = native === 'collections' && (each.has('data') || each.has('permissions'))
  return !hasOwnFields && inFiles.has(`${native} ${each.get('name')}`)
}

/**
 * The `.fql` file contains the whole definition of a collection that version 4 has created, because version 10 may
 * reject its name.
 */
function isOfVersion4(native: string, each: ReadonlyMap<string, Json>, plain: ReadonlySet<string>): boolean {
  return plain.has(`${native} ${each.get('name')}`) && !each.has('constraints') && !each.has('indexes')
}

/** Version 10 stores names where version 4 stores references. */
function isOfVersion10(native: string, each: ReadonlyMap<string, Json>): boolean {
  switch (native) {
    case 'roles':
      return [...parts(each, 'privileges'), ...parts(each, 'membership')].some(part =>
        isText(part, 'resource'),
      )
    case 'access_providers':
      return parts(each, 'roles').some(part => typeof part === 'string' || isText(part, 'role'))
  }
  return false
}

function parts(each: ReadonlyMap<string, Json>, name: string): readonly Json[] {
  const value = each.get(name) ?? []
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}

function isText(part: Json, name: string): boolean {
  return part instanceof Map && typeof part.get(name) === 'string'
}

function byName(left: ReadonlyMap<string, Json>, right: ReadonlyMap<string, Json>): number {
  return String(left.get('name')) < String(right.get('name')) ? -1 : 1
}

/** `name`, then the other parameters in sorted order, so that equal definitions have equal text. */
function parameters(kind: SchemaKind, schemaObject: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const fields = [...schemaObject].filter(([name]) => !serviceFields.has(name) && name !== 'name')
  // An unlimited history is written explicitly, because a new collection has a limited history by default.
  if (kind === 'collection' && !schemaObject.has('history_days')) fields.push(['history_days', null])
  fields.sort(([left], [right]) => (left < right ? -1 : 1))
  return new Map<string, Json>([['name', schemaObject.get('name') ?? null], ...fields])
}
