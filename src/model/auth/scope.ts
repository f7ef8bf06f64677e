// Parses the suffix of a secret, `[path:]scope`, which selects a descendant database for a request, and reduces the
// rights of the request. The protocol defines the syntax.

import type { Catalogue } from '../../storage/store/store-contract.ts'
import { type DatabaseId, firstUserCollection, int64Max, native, Ref } from '../../values/value.ts'
import type { BuiltinRole } from './access-contract.ts'
import { isBuiltinRole } from './builtin-role.ts'

type ScopeTarget =
  | { readonly kind: 'builtin'; readonly role: BuiltinRole }
  | { readonly kind: 'role'; readonly name: string }
  | { readonly kind: 'document'; readonly collection: string; readonly id: bigint }

export interface Scope {
  /** The names of databases, outermost first. Empty for the database of the key. */
  readonly path: readonly string[]
  readonly target: ScopeTarget
}

/** `scope` is undefined if the suffix is missing, and null if it is invalid. */
export interface ScopedSecret {
  readonly secret: string
  readonly scope: Scope | null | undefined
}

/** The first colon separates the suffix. A colon at the end is ignored. */
export function parseScopedSecret(text: string): ScopedSecret {
  const colon = text.indexOf(':')
  if (colon < 0) return { secret: text, scope: undefined }
  return { secret: text.slice(0, colon), scope: parseSuffix(text.slice(colon + 1)) }
}

/** Returns undefined for an empty suffix, null for an invalid one. */
export function parseSuffix(suffix: string): Scope | null | undefined {
  if (suffix === '') return undefined
  const target = parseTarget(suffix)
  if (target) return { path: [], target }
  const colon = suffix.indexOf(':')
  if (colon < 1) return null
  const path = suffix.slice(0, colon)
  const targetInPath = parseTarget(suffix.slice(colon + 1))
  // The protocol reserves these characters.
  return targetInPath && !/[,()&=]/.test(path) ? { path: path.split('/'), target: targetInPath } : null
}

function parseTarget(text: string): ScopeTarget | undefined {
  if (isBuiltinRole(text)) return { kind: 'builtin', role: text }
  const [head, first, second, ...rest] = text.split('/', 4)
  if (!first || rest.length > 0 || text.includes(':')) return undefined
  if (head === '@role') return second === undefined ? { kind: 'role', name: first } : undefined
  if (head !== '@doc' && head !== 'classes' && head !== 'collections') return undefined
  const id = second === undefined ? undefined : parseId(second)
  return id === undefined ? undefined : { kind: 'document', collection: first, id }
}

function parseId(text: string): bigint | undefined {
  if (!/^[0-9]{1,19}$/.test(text)) return undefined
  const id = BigInt(text)
  return id <= int64Max ? id : undefined
}

/** Returns undefined if a database of the path does not exist. */
export function followPath(
  catalogue: Catalogue,
  start: DatabaseId,
  path: readonly string[],
): DatabaseId | undefined {
  let at = start
  for (const name of path) {
    const child = catalogue.resolve(at, native.databases, name)
    if (!child) return undefined
    at = child.id
  }
  return at
}

/** Returns undefined if the collection is not an existing user collection. */
export function targetDocument(
  catalogue: Catalogue,
  database: DatabaseId,
  target: Extract<ScopeTarget, { readonly kind: 'document' }>,
): Ref | undefined {
  const collection = catalogue.resolve(database, native.collections, target.collection)
  if (!collection || collection.id < BigInt(firstUserCollection)) return undefined
  return new Ref(database, Number(collection.id), target.id)
}
