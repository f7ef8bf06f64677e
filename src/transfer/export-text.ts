// Writes documents as lines of an export in the layout of Fauna's hosted service. The tagged format preserves every
// type; the simple format does not. The hosted service wrote only a placeholder text for a lambda; Terrarium's tagged
// format writes `@query`, so an import restores lambdas. Texts that look like placeholders are written as `@string`, so
// that an import does not mistake them.

import { renderValue } from '../fql4/wire/render.ts'
import { encodeBase64 } from '../values/base64.ts'
import { formatDate } from '../values/date.ts'
import { formatMicros, formatTime } from '../values/time.ts'
import {
  isObject,
  Lambda,
  LocalDate,
  nativeOfKind,
  rootDatabase,
  Time,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../values/value.ts'
import { doubleText } from '../values/write-json.ts'
import type { ExportMembers } from './csv-cells.ts'
import { isPlaceholder, lambdaPlaceholder } from './formats/export-values.ts'
import { credentialsName, type DocumentRecord } from './record.ts'
import { deletedCollection, exportName, nativeCollection, nativeOf } from './references.ts'

/** Format of the values in an export. */
export type DocumentFormat = 'tagged' | 'simple'

/** Reserved by the export format. The user's fields with these names are written into an object `data`. */
const reservedNames: ReadonlySet<string> = new Set([
  'id',
  'coll',
  'ts',
  'ttl',
  'data',
  'delete',
  'update',
  'replace',
  'updateData',
  'replaceData',
  'exists',
])

/** Writes documents as JSON. Calls `onLost` with a description of each field and each lambda that the format omits. */
export class ExportPrinter {
  readonly #isTagged: boolean
  readonly #onLost: (what: string) => void

  constructor(format: DocumentFormat, onLost: (what: string) => void) {
    this.#isTagged = format === 'tagged'
    this.#onLost = onLost
  }

  document(record: DocumentRecord): string {
    return `{${Array.from(this.members(record), ([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`
  }

  /** `document` in parts, for CSV. */
  members({ collection, fields, id, isDelete, isHistory, ts = 0 }: DocumentRecord): ExportMembers {
    const isCredentials = collection === credentialsName
    const name = JSON.stringify(isCredentials ? 'Credential' : collection)
    const members = new Map<string, string>()
    if (isHistory) members.set('@version', isDelete ? '"delete"' : '"write"')
    members.set('id', `"${id}"`)
    members.set('coll', this.#isTagged ? `{"@mod":${name}}` : name)
    members.set('ts', this.#tag('@time', formatMicros(ts)))
    const ttl = fields.get('ttl')
    if (ttl !== undefined) members.set('ttl', this.#value(ttl))
    if (isCredentials) this.#addCredentials(members, fields)
    else this.#addUserFields(members, fields)
    return members
  }

  #addUserFields(members: Map<string, string>, fields: ReadonlyMap<string, Value>): void {
    for (const name of fields.keys()) {
      if (name !== 'data' && name !== 'ttl')
        this.#onLost(`the field ${name} of a document, which is outside the field data`)
    }
    const data = fields.get('data')
    if (data === undefined || !isObject(data)) return
    for (const [name, value] of data) if (!isReserved(name)) members.set(name, this.#value(value))
    const reserved = new Map([...data].filter(([name]) => isReserved(name)))
    if (reserved.size > 0) members.set('data', this.#value(reserved))
  }

  #addCredentials(members: Map<string, string>, fields: ReadonlyMap<string, Value>): void {
    for (const [name, value] of fields)
      if (name !== 'ttl') members.set(name === 'instance' ? 'document' : name, this.#value(value))
  }

  #value(value: Value): string {
    switch (typeof value) {
      case 'string':
        return this.#isTagged && isPlaceholder(value)
          ? `{"@string":${JSON.stringify(value)}}`
          : JSON.stringify(value)
      case 'bigint':
        return this.#integer(value)
      case 'number':
        return this.#double(value)
      case 'boolean':
        return String(value)
    }
    if (value === null) return 'null'
    if (Array.isArray(value)) return `[${value.map(each => this.#value(each)).join()}]`
    if (isObject(value)) return this.#object(value)
    if (value instanceof Uint8Array) return this.#tag('@bytes', encodeBase64(value))
    if (value instanceof Time) return this.#tag('@time', formatTime(value))
    if (value instanceof LocalDate) return this.#tag('@date', formatDate(value))
    if (value instanceof Uuid) return this.#tag('@uuid', value.text)
    if (value instanceof UnresolvedRef) return this.#reference(value)
    return value instanceof Lambda ? this.#lambda(value) : 'null'
  }

  #tag(tag: string, text: string): string {
    return this.#isTagged ? `{"${tag}":"${text}"}` : `"${text}"`
  }

  #integer(value: bigint): string {
    if (!this.#isTagged) return String(value)
    return `{"${BigInt.asIntN(32, value) === value ? '@int' : '@long'}":"${value}"}`
  }

  #double(value: number): string {
    const text = Number.isFinite(value) ? doubleText(value) : String(value)
    if (this.#isTagged) return `{"@double":"${text}"}`
    return Number.isFinite(value) ? text : `"${text}"`
  }

  #object(value: ReadonlyMap<string, Value>): string {
    const members = [...value].map(([name, field]) => `${JSON.stringify(name)}:${this.#value(field)}`)
    const text = `{${members.join()}}`
    const isEscaped = this.#isTagged && [...value.keys()].some(name => name.startsWith('@'))
    return isEscaped ? `{"@object":${text}}` : text
  }

  #reference({ target }: UnresolvedRef): string {
    switch (target.type) {
      case 'document': {
        const collection = target.collection.target
        return this.#ref(
          'id',
          String(target.id),
          collection.type === 'collection' ? collection.name : deletedCollection,
        )
      }
      case 'index':
        return JSON.stringify(`[legacy index ${target.name}]`)
      case 'key':
      case 'native':
        return 'null'
      default: {
        const known = target.type === 'collection' ? nativeOf(target.name) : undefined
        if (known !== undefined)
          return this.#isTagged ? `{"@mod":"${exportName(known)}"}` : `"${exportName(known)}"`
        return this.#ref('name', target.name, nativeCollection(nativeOfKind[target.type]))
      }
    }
  }

  #ref(member: 'id' | 'name', text: string, collection: string): string {
    const known = nativeOf(collection)
    const name = JSON.stringify(known === undefined ? collection : exportName(known))
    const coll = this.#isTagged ? `{"@mod":${name}}` : name
    const ref = `{"${member}":${JSON.stringify(text)},"coll":${coll}}`
    return this.#isTagged ? `{"@ref":${ref}}` : ref
  }

  #lambda(lambda: Lambda): string {
    if (!this.#isTagged) {
      this.#onLost('a stored lambda')
      return JSON.stringify(lambdaPlaceholder)
    }
    const names = { scope: rootDatabase, nameOf: () => undefined, databaseDocument: () => undefined }
    return `{"@object":${renderValue(lambda, { apiVersion: '4', names })}}`
  }
}

function isReserved(name: string): boolean {
  return reservedNames.has(name) || name.startsWith('@')
}
