// Reads the items and the declared field types in schema files of version 10 (`.fsl`), for imports and exports. Some
// export formats store times, dates and bytes as plain strings, which an import converts according to the declared
// types.

import { summaryOf } from '../fql10/failure/summary.ts'
import { isPlainName } from '../fql10/schema/field-names.ts'
import { parseFsl } from '../fql10/schema/fsl/parse-file.ts'
import { mainFile } from '../fql10/schema/fsl/patch.ts'
import type { SchemaItem } from '../fql10/schema/fsl/schema-items.ts'
import type { TypeNode } from '../fql10/syntax/nodes.ts'
import { Source } from '../fql10/syntax/source.ts'
import type { Json } from '../values/value.ts'
import type { FieldTypes, ImportType } from './field-types.ts'
import { type CreatedKind, TransferError } from './record.ts'

export interface FslFile {
  /** Name in the database. */
  readonly name: string
  readonly text: string
  readonly items: readonly SchemaItem[]
}

/** Throws {@link TransferError} with all errors. `shown`: the name of the file in errors. */
export function readFsl(name: string, text: string, shown = name): FslFile {
  const { faults, items } = parseFsl(new Source(shown, text))
  if (faults.length > 0) throw new TransferError(summaryOf(faults))
  return { name, text, items }
}

/** True for a collection that version 4 can express completely. */
export function isVersion4Collection(item: SchemaItem): boolean {
  return (
    item.kind === 'collection' &&
    item.annotations.length === 0 &&
    item.members.every(({ kind }) => version4Members.has(kind))
  )
}

/**
 * True if version 10 rejects `name` for a new role or access provider. Version 4 allows these names, and files of
 * version 10 may change an existing object with such a name, so the import creates a stub of the object before it
 * pushes the files.
 */
export function isStub(kind: CreatedKind, name: string): boolean {
  return (kind === 'role' || kind === 'access_provider') && !isPlainName(name)
}

/** The fields that are required to create the object. */
export function stubOf(kind: CreatedKind, params: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const stub = new Map([...params].filter(([name]) => stubFields.has(name)))
  return kind === 'role' ? stub.set('privileges', []) : stub
}

const stubFields: ReadonlySet<string> = new Set(['name', 'issuer', 'jwks_uri', 'data'])

/**
 * Returns `name` and `data`, which supplement an object from a schema file: schema files cannot contain `data`.
 * Undefined without `data`.
 */
export function supplementOf(params: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> | undefined {
  return params.has('data') ? new Map([...params].filter(([name]) => supplementFields.has(name))) : undefined
}

/** True if all fields supplement an object from a schema file. */
export function isSupplement(params: ReadonlyMap<string, Json>): boolean {
  return [...params.keys()].every(name => supplementFields.has(name))
}

const supplementFields: ReadonlySet<string> = new Set(['name', 'data'])

/**
 * Returns whether the schema contains definitions of version 10. A database of version 4 has only the generated file
 * `main.fsl`, with collections that version 4 can express completely.
 */
export function isVersion10Schema(files: readonly FslFile[]): boolean {
  const isOwn = files.some(({ name }) => name !== mainFile)
  return isOwn || files.some(({ items }) => items.some(isOfVersion10))
}

/**
 * True if only version 10 can define the item. Schema files contain only functions of version 10; roles and access
 * providers may belong to either version.
 */
function isOfVersion10(item: SchemaItem): boolean {
  return item.kind === 'function' || (item.kind === 'collection' && !isVersion4Collection(item))
}

const version4Members: ReadonlySet<string> = new Set(['history_days', 'ttl_days'])

/** Types by their names in schema files. */
const typeNames: Readonly<Record<string, ImportType>> = {
  Time: 'time',
  Date: 'date',
  Bytes: 'bytes',
  UUID: 'uuid',
  Int: 'long',
  Long: 'long',
  Double: 'double',
}

export function addFieldTypes(items: readonly SchemaItem[], types: FieldTypes): void {
  for (const item of items) {
    if (item.kind !== 'collection') continue
    for (const member of item.members) {
      if (member.kind === 'field') addType(member.type, item.name.text, member.name.text, types)
    }
  }
}

function addType(type: TypeNode, collection: string, path: string, types: FieldTypes): void {
  const plain = withoutNull(type)
  if (plain?.kind === 'object') {
    for (const member of plain.members) addType(member.type, collection, `${path}.${member.name}`, types)
    return
  }
  const known = plain && fieldType(plain)
  if (known !== undefined) types.set(collection, path, known)
}

/** Returns undefined when several alternatives remain. */
function withoutNull(type: TypeNode): TypeNode | undefined {
  if (type.kind === 'optional') return withoutNull(type.inner)
  if (type.kind !== 'union') return type
  const [only, ...others] = type.members.filter(each => each.kind !== 'name' || each.name !== 'Null')
  return only === undefined || others.length > 0 ? undefined : withoutNull(only)
}

/** Returns undefined for types that JSON itself expresses. */
function fieldType(type: TypeNode): ImportType | undefined {
  if (type.kind !== 'name') return undefined
  const [inner] = type.arguments
  if (type.name === 'Array') return inner && fieldType(inner)
  if (type.name === 'Ref') return inner?.kind === 'name' ? { ref: inner.name } : undefined
  return Object.hasOwn(typeNames, type.name) ? typeNames[type.name] : undefined
}
