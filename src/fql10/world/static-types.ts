// Computes the static types of a database, and of the values in a request.

import { textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { LocalDate, Time, TransactionTime, Uuid } from '../../values/value.ts'
import { collectionNumber, nativeOf, typeOfModule } from '../library/natives.ts'
import { definitionsOf, foreignNames } from '../schema/push/current-files.ts'
import { SchemaTypes } from '../typing/schema-types.ts'
import {
  type ArgumentValue,
  anyType,
  type LiteralValue,
  namedType,
  nullType,
  type Type,
} from '../typing/terms.ts'
import {
  Doc,
  EventSource,
  Id,
  isArray,
  isNull,
  isStruct,
  kindOf,
  Module,
  NarrowLong,
  type Value,
} from '../value.ts'

/** Measured bytes of memory for each UTF-16 unit of code: 40 for the syntax trees, 50 to 80 for types in use. */
const bytesPerUnit = 100

/**
 * Returns the types of the database, which are cached until the schema changes. A function is parsed when a query uses
 * it, because every change of the schema would otherwise parse all functions again. Its memory is counted in advance.
 */
export function typesOf(session: Session): SchemaTypes {
  const { catalogue } = session.transaction
  return catalogue.derived(session.database, 'static types', () => {
    const definitions = definitionsOf(session)
    const functions = definitions.filter(each => each.kind === 'function' && !each.isForeign)
    const collections = definitions.filter(each => each.kind === 'collection')
    const texts = [
      ...functions.map(({ fields }) => textIn(fields, 'body')),
      ...collections.map(({ text }) => text),
    ]
    const units = texts.reduce((sum, text = '') => sum + text.length, 0)
    catalogue.countDerived(session.database, bytesPerUnit * units)
    return new SchemaTypes({
      collections: collections.flatMap(({ item }) => (item?.kind === 'collection' ? [item] : [])),
      functions: new Map(functions.flatMap(each => each.names.map(name => [name, each] as const))),
      untyped: foreignNames(session).functions,
    })
  })
}

/** Arrays and objects with more members have a less precise type. */
const membersMax = 256

export class ValueTypes {
  /** The values with literal types, in the order of the request. */
  readonly given: ArgumentValue[] = []

  typeOf(value: Value): Type {
    if (isNull(value)) return nullType
    if (typeof value === 'number') return Number.isFinite(value) ? this.#literal(value) : namedType('Double')
    if (typeof value === 'boolean') return namedType('Boolean')
    if (typeof value === 'bigint' || typeof value === 'string') return this.#literal(value)
    if (value instanceof NarrowLong) return namedType('Long')
    if (isArray(value)) {
      if (value.length > membersMax) return { kind: 'named', name: 'Array', args: [anyType] }
      return { kind: 'tuple', elements: value.map(each => this.typeOf(each)) }
    }
    if (isStruct(value)) {
      if (value.size > membersMax) return { kind: 'record', fields: new Map(), wildcard: anyType }
      const fields = new Map([...value].map(([name, field]) => [name, this.typeOf(field)]))
      return { kind: 'record', fields, wildcard: undefined }
    }
    return typeOfObject(value)
  }

  #literal(value: LiteralValue): Type {
    const given = { value, isRead: false }
    this.given.push(given)
    return { kind: 'literal', value, given }
  }
}

function typeOfObject(value: Value): Type {
  if (value instanceof Module) return namedType(typeOfModule(value))
  if (value instanceof Doc) return documentType(value.collection)
  if (value instanceof EventSource) return { kind: 'named', name: 'EventSource', args: [anyType] }
  if (value instanceof Id) return namedType('ID')
  if (value instanceof Time) return namedType('Time')
  if (value instanceof TransactionTime) return namedType('TransactionTime')
  if (value instanceof LocalDate) return namedType('Date')
  if (value instanceof Uuid) return namedType('UUID')
  if (value instanceof Uint8Array) return namedType('Bytes')
  return kindOf(value) === 'set' ? { kind: 'named', name: 'Set', args: [anyType] } : anyType
}

function documentType(collection: Module): Type {
  if (collection.isUserCollection) return namedType(collection.name)
  const type = nativeOf(collectionNumber(collection))?.type
  return type === undefined ? anyType : namedType(type)
}
