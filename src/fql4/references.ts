// Resolves references in the database of the request, or in the descendant database `scope`. If a schema object does
// not exist, the result is an unresolved reference. An unresolved reference is a value, for which `exists` returns
// false and other functions that read fail. The existence of documents is not checked.

import { msg } from '../base/message.ts'
import type { Session } from '../model/session.ts'
import {
  type DatabaseId,
  type NativeName,
  native,
  nativeNamed,
  nativeOfKind,
  Ref,
  type SchemaKind,
  UnresolvedRef,
} from '../values/value.ts'
import { fault, type Place, type ReferenceTarget } from './expression.ts'

/** `self` means the caller's own document in the collection. Throws `invalid expression` without this document. */
export function resolveTarget(target: ReferenceTarget, session: Session, place: Place): Ref | UnresolvedRef {
  switch (target.type) {
    case 'self':
      return resolveSelf(resolveTarget(target.collection, session, place), session, place)
    case 'document': {
      const collection = resolveTarget(target.collection, session, place)
      return documentRef(collection, target.id)
    }
    case 'key': {
      const scope = resolveScope(target.scope, session, place)
      if (scope instanceof UnresolvedRef) return new UnresolvedRef({ type: 'key', id: target.id, scope })
      return new Ref(scope?.id ?? session.database, native.keys, target.id)
    }
    case 'native': {
      const scope = resolveScope(target.scope, session, place)
      return nativeRef(target.name, scope, session)
    }
    default:
      return resolveName(target.type, target.name, resolveScope(target.scope, session, place), session)
  }
}

function resolveScope(scope: ReferenceTarget | undefined, session: Session, place: Place) {
  return scope && resolveTarget(scope, session, place)
}

/** If `collection` is unresolved, the result is unresolved. */
export function documentRef(collection: Ref | UnresolvedRef, id: bigint): Ref | UnresolvedRef {
  if (collection instanceof UnresolvedRef) return new UnresolvedRef({ type: 'document', id, collection })
  return new Ref(collection.database, Number(collection.id), id)
}

export function nativeRef(
  name: NativeName,
  scope: Ref | UnresolvedRef | undefined,
  session: Session,
): Ref | UnresolvedRef {
  if (scope instanceof UnresolvedRef) return new UnresolvedRef({ type: 'native', name, scope })
  return new Ref(scope?.id ?? session.database, native.collections, BigInt(native[name]))
}

export function resolveName(
  type: SchemaKind,
  name: string,
  scope: Ref | UnresolvedRef | undefined,
  session: Session,
): Ref | UnresolvedRef {
  const missing = () => new UnresolvedRef(scope ? { type, name, scope } : { type, name })
  if (scope instanceof UnresolvedRef) return missing()
  const database: DatabaseId = scope?.id ?? session.database
  const found = session.transaction.catalogue.resolve(database, native[nativeOfKind[type]], name)
  if (found) {
    if (type === 'collection' || type === 'index' || type === 'function') session.named.note(type, name)
    return found
  }
  const nativeCollection = type === 'collection' ? nativeNamed(name) : undefined
  return nativeCollection ? nativeRef(nativeCollection, scope, session) : missing()
}

function resolveSelf(collection: Ref | UnresolvedRef, session: Session, place: Place): Ref {
  const { credential, identity } = session.caller
  if (collection instanceof Ref) {
    const number = Number(collection.id)
    if (number === native.tokens && credential instanceof Ref && credential.collection === number)
      return credential
    if (identity instanceof Ref) {
      if (identity.collection === number) return identity
      const owned = number === native.credentials && session.transaction.directory.credentialOf(identity)
      if (owned) return owned.ref
    }
  }
  throw fault(msg`Invalid ref.`, place)
}
