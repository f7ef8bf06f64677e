// Converts names of collections and other schema objects to the numbers that the store uses in references, and back. A
// name that cannot be resolved becomes a value that contains the name, and is listed for the caller.

import type { Catalogue } from '../storage/store/store-contract.ts'
import {
  collectionOf,
  type DatabaseId,
  isArray,
  isNativeCollectionRef,
  isObject,
  kindOfNative,
  Lambda,
  namedNatives,
  native,
  nativeName,
  nativeOfKind,
  type ObjectValue,
  Ref,
  UnresolvedRef,
  type Value,
} from '../values/value.ts'
import { isTransferred } from './record-check.ts'
import {
  deletedCollection,
  documentReference,
  exportName,
  nativeCollection,
  nativeOf,
  referenceText,
  schemaReference,
} from './references.ts'

/** Resolves names in one database, for one transaction. */
export class Resolver {
  readonly #catalogue: Catalogue
  readonly #database: DatabaseId
  readonly #numbers = new Map<string, number | undefined>()
  /** References to documents that the last call of {@link fields} found. */
  readonly documents: Ref[] = []
  /** Unresolvable references that the last call of {@link fields} found, as text. */
  readonly unresolved: string[] = []
  /** Lambdas that the last call of {@link fields} found. */
  readonly lambdas: Lambda[] = []

  constructor(catalogue: Catalogue, database: DatabaseId) {
    this.#catalogue = catalogue
    this.#database = database
  }

  /** Number of a user collection or of the collection of credentials; undefined for other names. */
  transferredCollection(name: string): number | undefined {
    return isTransferred(name) ? this.collection(name) : undefined
  }

  /** Number of a user collection or native collection; undefined if there is none. */
  collection(name: string): number | undefined {
    if (this.#numbers.has(name)) return this.#numbers.get(name)
    const known = nativeOf(name)
    const found = this.#catalogue.resolve(this.#database, native.collections, name)
    const number = known === undefined ? found && Number(found.id) : native[known]
    this.#numbers.set(name, number)
    return number
  }

  /** Resolves references. Sets {@link documents}, {@link unresolved} and {@link lambdas}. */
  fields(fields: ObjectValue): ObjectValue {
    this.documents.length = 0
    this.unresolved.length = 0
    this.lambdas.length = 0
    return this.#value(fields) as ObjectValue
  }

  /** Returns the same value when it contains no references. */
  #value(value: Value): Value {
    if (typeof value !== 'object' || value === null) return value
    if (isObject(value)) {
      let copy: Map<string, Value> | undefined
      for (const [name, field] of value) {
        const resolved = this.#value(field)
        if (resolved === field) continue
        copy ??= new Map(value)
        copy.set(name, resolved)
      }
      return copy ?? value
    }
    if (isArray(value)) {
      const elements = value.map(element => this.#value(element))
      return elements.some((element, at) => element !== value[at]) ? elements : value
    }
    if (value instanceof UnresolvedRef) return this.#reference(value)
    if (value instanceof Lambda) {
      const lambda = new Lambda(value.apiVersion, value.parameters, this.#value(value.body))
      this.lambdas.push(lambda)
      return lambda
    }
    return value
  }

  #reference(reference: UnresolvedRef): Value {
    const { target } = reference
    if (target.type === 'document') {
      const { target: collection } = target.collection
      const number =
        collection.type === 'collection' && collection.scope === undefined
          ? this.collection(collection.name)
          : undefined
      // A reference to a schema object by number is not resolved, because the number could come from another database.
      if (number === undefined || namedNatives.has(number)) return this.#unresolvable(reference)
      const ref = new Ref(this.#database, number, target.id)
      this.documents.push(ref)
      return ref
    }
    if (target.type === 'key' || target.type === 'native' || target.scope !== undefined)
      return this.#unresolvable(reference)
    if (target.type === 'collection') {
      const number = this.collection(target.name)
      if (number !== undefined) return new Ref(this.#database, native.collections, BigInt(number))
    }
    return (
      this.#catalogue.resolve(this.#database, native[nativeOfKind[target.type]], target.name) ??
      this.#unresolvable(reference)
    )
  }

  /** Records an unresolvable reference. Returns the value that exports print for it. */
  #unresolvable(reference: UnresolvedRef): Value {
    const { target } = reference
    this.unresolved.push(referenceText(reference))
    if (target.type === 'index') return `[legacy index ${target.name}]`
    if (target.type === 'document') {
      const [collection, id] = [referenceText(target.collection), String(target.id)]
      return new Map<string, Value>([
        ['id', id],
        ['collection', collection],
      ])
    }
    if (target.type === 'key' || target.type === 'native') return referenceText(reference)
    return new Map<string, Value>([
      ['name', target.name],
      ['coll', exportName(nativeOfKind[target.type])],
    ])
  }
}

/** Replaces the numbers in the references of a stored value by names. */
export function withNames(value: Value, catalogue: Catalogue): Value {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Ref) return nameOf(value, catalogue)
  if (isObject(value)) return new Map([...value].map(([name, field]) => [name, withNames(field, catalogue)]))
  if (isArray(value)) return value.map(element => withNames(element, catalogue))
  if (value instanceof Lambda)
    return new Lambda(value.apiVersion, value.parameters, withNames(value.body, catalogue))
  return value
}

function nameOf(ref: Ref, catalogue: Catalogue): UnresolvedRef {
  if (isNativeCollectionRef(ref)) {
    const known = nativeName(Number(ref.id))
    return schemaReference('collection', known ? nativeCollection(known) : String(ref.id))
  }
  const known = nativeName(ref.collection)
  const kind = known && kindOfNative.get(known)
  if (kind !== undefined) return schemaReference(kind, catalogue.nameOf(ref) ?? String(ref.id))
  const collection = known ? nativeCollection(known) : catalogue.nameOf(collectionOf(ref))
  return documentReference(collection ?? deletedCollection, ref.id)
}
