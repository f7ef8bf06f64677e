// The modules of native (built-in) collections: Collection, Function, Role, Key and others.

import { native } from '../../values/value.ts'
import { TokenSet } from '../sets/token-set.ts'
import { type Doc, Module, UserCollection } from '../value.ts'
import { applyId, byId, commonMethods, create } from './collection.ts'
import { documentMembers, namedDocumentMembers, numberedDocumentMembers } from './document.ts'
import { entriesFor, type FunctionDefinition, type LibraryEntry, type Members, members } from './entry.ts'
import { document, string, time } from './parameters.ts'

const { field, method } = entriesFor<Module>()
const ofCredential = entriesFor<Doc>()

const byName = method('byName', {
  effect: 'read',
  parameters: { name: string },
  type: '(name: String) => NamedRef<Doc>',
  summary: 'Returns a reference to the schema object with the name `name`. The object need not exist.',
  example: ['Role.byName("none").exists()', 'false'],
  run: (module, { name }, call) => call.evaluation.world.documents.byName(module, name, call),
})

/** Represents the collection of a document if this collection was deleted. */
export const deletedCollection: Module = new Module('Deleted', members('Deleted', []), 'Collection')

const applyCollection = method('apply', {
  parameters: { collection: string },
  type: '(collection: String) => Any',
  summary: 'Returns the collection with the name or alias `collection`. An unknown name is an error.',
  example: ['Collection("Author")', 'Author'],
  run: (_, { collection }, call) => call.evaluation.world.names.collection(collection, call),
})

const applyFunction = method('apply', {
  parameters: { function: string },
  type: '(function: String) => Any',
  summary: 'Returns the user function with the name or alias `function`. An unknown name is an error.',
  example: ['Function("shout")("a")', '"A"'],
  run: (_, args, call) => call.evaluation.world.names.userFunction(args.function, call),
})

const credentialMethods = [
  ofCredential.method('verify', {
    effect: 'read',
    parameters: { secret: string },
    type: '(secret: String) => Boolean',
    summary: 'True if `secret` is the password.',
    example: ['Credential.byDocument(Author.byId(1))!.verify("sesame")', 'true'],
    run: (doc, { secret }, call) => call.evaluation.world.access.verify(doc, secret),
  }),
  ofCredential.method('login', {
    effect: 'write',
    parameters: { secret: string },
    optional: { ttl: time },
    type: '((secret: String) => Token) & ((secret: String, ttl: Time) => Token)',
    summary:
      'Checks the password `secret` and returns a new token for the document; a wrong password is an error. The token expires at the time `ttl`, if given.',
    example: ['Credential.byDocument(Author.byId(1))!.login("sesame")', '…'],
    run: (doc, { secret, ttl }, call) => call.evaluation.world.access.login(doc, secret, ttl, call),
  }),
]

interface Native {
  readonly number: number
  readonly module: Module
  readonly documents: Members
  /** The static type of the collection's documents. */
  readonly type: string
}

/** A native collection without its number. */
interface NativeDeclaration {
  readonly name: string
  readonly type: string
  /** The static type of the method `create`. */
  readonly create: string
  /** Members that only this collection has. */
  readonly own?: readonly LibraryEntry[]
}

/** A native collection whose documents have names. */
function named(
  number: number,
  { name, type, create: createType, own = [] }: NativeDeclaration,
  apply?: FunctionDefinition,
): Native {
  const table = members(name, [...commonMethods, { ...create, type: createType }, byName, ...own], apply)
  return { number, module: new Module(name, table), documents: namedDocumentMembers, type }
}

/** A native collection whose documents have ids. */
function numbered(
  number: number,
  { name, type, create: createType, own = [] }: NativeDeclaration,
  documents: Members = numberedDocumentMembers(`${name}Document`),
): Native {
  const table = members(name, [...commonMethods, { ...create, type: createType }, byId, ...own], applyId)
  return { number, module: new Module(name, table), documents, type }
}

const tokensOf = method('byDocument', {
  effect: 'read',
  parameters: { document },
  type: '(document: { *: Any }) => Set<Token>',
  summary: 'Returns the tokens of `document` that the caller may read.',
  example: ['Token.byDocument(Author.byId(1)!).count()', '0'],
  run: (_, args, { at }) => new TokenSet({ document: args.document.ref, at, isReversed: false }),
})
const credentialOf = method('byDocument', {
  effect: 'read',
  parameters: { document },
  type: '(document: { *: Any } | Null) => Ref<Credential>',
  summary:
    'Returns a reference to the credential of `document`. If the document has no credential, `exists()` of the reference returns false.',
  example: ['Credential.byDocument(Author.byId(1)).exists()', 'true'],
  run: (_, args, call) => call.evaluation.world.access.credentialOf(args.document),
})

export const natives: readonly Native[] = [
  named(native.access_providers, {
    name: 'AccessProvider',
    type: 'AccessProvider',
    create:
      '(data: { name: String, issuer: String, jwks_uri: String, roles: String | { role: String, predicate: String } | Array<String | { role: String, predicate: String }> | Null, data: { *: Any } | Null }) => AccessProvider',
  }),
  named(
    native.collections,
    {
      name: 'Collection',
      type: 'CollectionDef',
      create:
        '(data: { name: String, alias: String | Null, computed_fields: { *: { body: String, signature: String | Null } } | Null, fields: { *: { signature: String, default: String | Null } } | Null, migrations: Array<{ backfill: { field: String, value: String } } | { drop: { field: String } } | { split: { field: String, to: Array<String> } } | { move: { field: String, to: String } } | { add: { field: String } } | { move_conflicts: { into: String } } | { move_wildcard: { into: String } } | { add_wildcard: {} }> | Null, wildcard: String | Null, history_days: Number | Null, ttl_days: Number | Null, document_ttls: Boolean | Null, indexes: { *: { terms: Array<{ field: String, mva: Boolean | Null }> | Null, values: Array<{ field: String, mva: Boolean | Null, order: "asc" | "desc" | Null }> | Null, queryable: Boolean | Null } } | Null, constraints: Array<{ unique: Array<String> | Array<{ field: String, mva: Boolean | Null }> } | { check: { name: String, body: String } }> | Null, data: { *: Any } | Null }) => CollectionDef',
      own: [
        field('Deleted', {
          type: 'DeletedCollection',
          summary: 'The value of `coll` in documents whose collection was deleted.',
          example: ['Collection.Deleted', 'Collection.Deleted'],
          read: () => deletedCollection,
        }),
      ],
    },
    applyCollection,
  ),
  numbered(
    native.credentials,
    {
      name: 'Credential',
      type: 'Credential',
      create:
        '(data: { id: ID | Null, document: Ref<{ *: Any }>, password: String | Null, data: { *: Any } | Null }) => Credential',
      own: [credentialOf],
    },
    numberedDocumentMembers('CredentialDocument', credentialMethods),
  ),
  named(native.databases, {
    name: 'Database',
    type: 'DatabaseDef',
    create:
      '(data: { name: String, priority: Number | Null, typechecked: Boolean | Null, protected: Boolean | Null, data: { *: Any } | Null }) => DatabaseDef',
  }),
  named(
    native.functions,
    {
      name: 'Function',
      type: 'FunctionDef',
      create:
        '(data: { name: String, alias: String | Null, signature: String | Null, role: String | Null, body: String, data: { *: Any } | Null }) => FunctionDef',
    },
    applyFunction,
  ),
  numbered(native.keys, {
    name: 'Key',
    type: 'Key',
    create:
      '(data: { role: String, database: String | Null, ttl: Time | Null, data: { *: Any } | Null }) => Key',
  }),
  named(native.roles, {
    name: 'Role',
    type: 'Role',
    create:
      '(data: { name: String, privileges: Any | Null, membership: Any | Null, data: { *: Any } | Null }) => Role',
  }),
  numbered(native.tokens, {
    name: 'Token',
    type: 'Token',
    create:
      '(data: { id: ID | Null, document: { *: Any } | Null, ttl: Time | Null, data: { *: Any } | Null }) => Token',
    own: [tokensOf],
  }),
]

const byNumber: ReadonlyMap<number, Native> = new Map(natives.map(each => [each.number, each]))
const numbers: ReadonlyMap<Module, number> = new Map(natives.map(each => [each.module, each.number]))

/** The native collection with the given number. Returns undefined for user collections, and for version 4's indexes. */
export function nativeOf(number: number): Native | undefined {
  return byNumber.get(number)
}

/** Throws a RangeError for other numbers than those of native collections. */
export function nativeModule(number: number): Module {
  const found = nativeOf(number)
  if (found === undefined) throw new RangeError(`${number} is not a native collection`)
  return found.module
}

/** The number of a native collection. Returns undefined for any other module. */
export function nativeNumber(module: Module): number | undefined {
  return numbers.get(module)
}

export function typeOfModule(module: Module): string {
  const { isUserCollection, name, path } = module
  if (module === deletedCollection) return 'DeletedCollection'
  return isUserCollection || numbers.has(module) ? `${name}Collection` : `${path}Module`
}

/** The number of a collection in references to its documents; 0 for modules that are not collections. */
export function collectionNumber(module: Module): number {
  return module instanceof UserCollection ? Number(module.ref.id) : (nativeNumber(module) ?? 0)
}

/** The fields and methods of a document, which depend on its collection. */
export function documentTable({ ref }: Doc): Members {
  return byNumber.get(ref.collection)?.documents ?? documentMembers
}
