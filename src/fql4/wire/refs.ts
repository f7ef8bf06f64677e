// Renders references in responses, in the form of the client's API version. The reference to a schema object contains
// the current name of the object. The reference to a database also contains the ancestors of this database, up to the
// database of the request.

import { upsert } from '../../base/upsert.ts'
import { quoteJson } from '../../values/json-text.ts'
import {
  type CollectionId,
  collectionOf,
  type DatabaseId,
  firstUserCollection,
  isNativeCollectionRef,
  namedNatives,
  native,
  nativeName,
  nativeOfKind,
  Ref,
  type RefTails,
  rootDatabase,
  type UnresolvedRef,
} from '../../values/value.ts'
import { isAtLeast } from './version.ts'

export interface RefNames {
  /** The database of the request. References into this database are rendered without `database`. */
  readonly scope: DatabaseId
  /** Returns the current or last name of a schema object. Returns undefined if the object never had a name. */
  nameOf(ref: Ref): string | undefined
  /** Returns the document of a database, which its parent database contains, or undefined for the root database. */
  databaseDocument(database: DatabaseId): Ref | undefined
  /**
   * A cache of tails: the ends of rendered references, by collection. Contains only existing collections of the scope,
   * and is valid until the name of a collection changes.
   */
  readonly tails?: RefTails
  /** Only name changes of existing collections make `tails` invalid, so `tails` contains no others. */
  hasCollection?(collection: CollectionId): boolean
}

/** The methods return undefined for a reference to an object that never had a name. */
export class RefPrinter {
  readonly #names: RefNames
  readonly #asPath: boolean
  readonly #collectionKey: 'collection' | 'class'
  /** The text after the id in references, for each collection. Also has collections that `RefNames.tails` lacks. */
  readonly #tails = new Map<DatabaseId, Map<CollectionId, string | undefined>>()
  #uncacheable = 0

  /** The next reference usually is to a document of the same collection as the previous reference. */
  #latest:
    | {
        readonly database: DatabaseId
        readonly collection: CollectionId
        readonly tail: string
        readonly isUncacheable: boolean
      }
    | undefined

  constructor(names: RefNames, apiVersion: string) {
    this.#names = names
    this.#asPath = !isAtLeast(apiVersion, '2.1')
    this.#collectionKey = isAtLeast(apiVersion, '2.7') ? 'collection' : 'class'
  }

  /** The number of rendered references whose text may change while `RefNames.tails` stays valid. */
  get uncacheable(): number {
    return this.#uncacheable
  }

  print(ref: Ref): string | undefined {
    const latest = this.#latest
    if (latest?.collection === ref.collection && latest.database === ref.database) {
      if (latest.isUncacheable) this.#uncacheable++
      return ref.textWith(latest.tail)
    }
    if (!this.#asPath && ref.collection >= firstUserCollection) return this.#printDocument(ref)
    this.#uncacheable++
    if (this.#asPath) return wrapPath(this.#path(ref))
    if (isNativeCollectionRef(ref)) return this.#nativeCollection(Number(ref.id), ref.database)
    if (!namedNatives.has(ref.collection)) {
      const tail = this.#tail(ref.database, ref.collection)
      return tail && ref.textWith(tail)
    }
    const name = this.#names.nameOf(ref)
    const database = this.#databaseField(ref.database)
    if (name === undefined || database === undefined) return undefined
    return `{"@ref":{"id":${quoteJson(name)},"${this.#collectionKey}":${this.#plainNative(ref.collection)}${database}}}`
  }

  #printDocument(ref: Ref): string | undefined {
    const { collection, database } = ref
    const { hasCollection, scope, tails } = this.#names
    const uncacheable = this.#uncacheable
    const tail = (database === scope ? tails?.get(collection) : undefined) ?? this.#tail(database, collection)
    const isUncacheable = database !== scope || tail === undefined || hasCollection?.(collection) !== true
    // The references within the tail are not counted separately.
    this.#uncacheable = isUncacheable ? uncacheable + 1 : uncacheable
    if (tail === undefined) return undefined
    if (!isUncacheable) tails?.set(collection, tail)
    this.#latest = { collection, database, tail, isUncacheable }
    return ref.textWith(tail)
  }

  /** Uses the name and the scope as given in the query. */
  printUnresolved(ref: UnresolvedRef): string | undefined {
    this.#uncacheable++
    return this.#asPath ? wrapPath(this.#unresolvedPath(ref)) : this.#unresolvedObject(ref)
  }

  #tail(database: DatabaseId, collection: CollectionId): string | undefined {
    const tails = upsert(this.#tails, database, () => new Map())
    let tail = tails.get(collection)
    if (tail === undefined && !tails.has(collection)) {
      const printed = nativeName(collection)
        ? this.#nativeCollection(collection, database)
        : this.print(new Ref(database, native.collections, BigInt(collection)))
      tail = printed && `,"${this.#collectionKey}":${printed}}}`
      tails.set(collection, tail)
    }
    return tail
  }

  #nativeCollection(collection: CollectionId, database: DatabaseId): string | undefined {
    const field = this.#databaseField(database)
    return field === undefined ? undefined : `{"@ref":{"id":"${this.#nativeSpelling(collection)}"${field}}}`
  }

  #plainNative(collection: CollectionId): string {
    return `{"@ref":{"id":"${this.#nativeSpelling(collection)}"}}`
  }

  #nativeSpelling(collection: CollectionId): string | undefined {
    return collection === native.collections && this.#collectionKey === 'class'
      ? 'classes'
      : nativeName(collection)
  }

  /** Returns the field after a comma. The result is empty for the database of the request and for the root database. */
  #databaseField(database: DatabaseId): string | undefined {
    if (database === this.#names.scope || database === rootDatabase) return ''
    const ref = this.#names.databaseDocument(database)
    const printed = ref && this.print(ref)
    return printed && `,"database":${printed}`
  }

  #path(ref: Ref): string | undefined {
    if (isNativeCollectionRef(ref)) return this.#nativeSpelling(Number(ref.id))
    if (namedNatives.has(ref.collection)) {
      const name = this.#names.nameOf(ref)
      return name === undefined ? undefined : `${this.#nativeSpelling(ref.collection)}/${name}`
    }
    const collection = nativeName(ref.collection) ?? this.#path(collectionOf(ref))
    return collection && `${collection}/${ref.id}`
  }

  #unresolvedObject({ target }: UnresolvedRef): string | undefined {
    const key = this.#collectionKey
    if (target.type === 'document') {
      const collection = this.#unresolvedObject(target.collection)
      return collection && `{"@ref":{"id":"${target.id}","${key}":${collection}}}`
    }
    const scope = this.#scopeField(target.scope)
    if (scope === undefined) return undefined
    switch (target.type) {
      case 'native':
        return `{"@ref":{"id":"${this.#nativeSpelling(native[target.name])}"${scope}}}`
      case 'key':
        return `{"@ref":{"id":"${target.id}","${key}":{"@ref":{"id":"keys"${scope}}}}}`
      default:
        return `{"@ref":{"id":${quoteJson(target.name)},"${key}":${this.#plainNative(native[nativeOfKind[target.type]])}${scope}}}`
    }
  }

  #scopeField(scope: Ref | UnresolvedRef | undefined): string | undefined {
    if (!scope) return ''
    const printed = scope instanceof Ref ? this.print(scope) : this.#unresolvedObject(scope)
    return printed && `,"database":${printed}`
  }

  #unresolvedPath({ target }: UnresolvedRef): string {
    switch (target.type) {
      case 'document':
        return `${this.#unresolvedPath(target.collection)}/${target.id}`
      case 'native':
        return this.#nativeSpelling(native[target.name]) as string
      case 'key':
        return `keys/${target.id}`
      default:
        return `${this.#nativeSpelling(native[nativeOfKind[target.type]])}/${target.name}`
    }
  }
}

function wrapPath(path: string | undefined): string | undefined {
  return path === undefined ? undefined : `{"@ref":${quoteJson(path)}}`
}
