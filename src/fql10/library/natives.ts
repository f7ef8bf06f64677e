// The modules of native (built-in) collections: Collection, Function, Role, Key and others.

import { native } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { type Doc, Module, UserCollection, type Value } from '../value.ts'
import { applyId, byId, create, listing } from './collection.ts'
import { documentMembers, namedDocumentMembers, numberedDocumentMembers } from './document.ts'
import { entriesFor, type FunctionDefinition, type LibraryEntry, type Members, members } from './entry.ts'
import { document, string, time } from './parameters.ts'

const { field, method } = entriesFor<Module>()
const ofCredential = entriesFor<Doc>()

const byName = method('byName', {
  effect: 'read',
  parameters: { name: string },
  result: 'Doc',
  summary: 'Returns a reference to the schema object with the name `name`. The object need not exist.',
  example: ['Role.byName("none").exists()', 'false'],
  run: (module, { name }, call) => call.evaluation.world.documents.byName(module, name, call),
})

/** Represents the collection of a document if this collection was deleted. */
export const deletedCollection: Module = new Module('Deleted', members('Deleted', []), 'Collection')

const applyCollection = method('apply', {
  parameters: { collection: string },
  result: 'Module',
  summary: 'Returns the collection with the name or alias `collection`. An unknown name is an error.',
  example: ['Collection("Author")', 'Author'],
  run: (_, { collection }, call) => call.evaluation.world.names.collection(collection, call),
})

const applyFunction = method('apply', {
  parameters: { function: string },
  result: 'Function',
  summary: 'Returns the user function with the name or alias `function`. An unknown name is an error.',
  example: ['Function("shout")("a")', '"A"'],
  run: (_, args, call) => call.evaluation.world.names.userFunction(args.function, call),
})

function byDocument(
  summary: string,
  example: readonly [string, string],
  run: (module: Module, document: Doc, call: Call) => Value,
): FunctionDefinition {
  return method('byDocument', {
    effect: 'read',
    parameters: { document },
    result: 'Any',
    summary,
    example,
    run: (module, args, call) => run(module, args.document, call),
  })
}

const credentialMethods = [
  ofCredential.method('verify', {
    effect: 'read',
    parameters: { secret: string },
    result: 'Boolean',
    summary: 'True if `secret` is the password.',
    example: ['Credential.byDocument(Author.byId(1))!.verify("sesame")', 'true'],
    run: (doc, { secret }, call) => call.evaluation.world.access.verify(doc, secret),
  }),
  ofCredential.method('login', {
    effect: 'write',
    parameters: { secret: string },
    optional: { ttl: time },
    result: 'Doc',
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
}

function named(
  number: number,
  name: string,
  own: readonly LibraryEntry[] = [],
  apply?: FunctionDefinition,
): Native {
  const table = members(name, [...listing, create, byName, ...own], apply)
  return { number, module: new Module(name, table), documents: namedDocumentMembers }
}

function numbered(
  number: number,
  name: string,
  own: readonly FunctionDefinition[] = [],
  documents: Members = numberedDocumentMembers(`${name}Document`),
): Native {
  const table = members(name, [...listing, create, byId, ...own], applyId)
  return { number, module: new Module(name, table), documents }
}

const tokensOf = byDocument(
  'Returns the tokens of `document` that the caller may read.',
  ['Token.byDocument(Author.byId(1)!).count()', '0'],
  (_, document, call) => call.evaluation.world.access.tokensOf(document, call),
)
const credentialOf = byDocument(
  'Returns a reference to the credential of `document`. If the document has no credential, `exists()` of the reference returns false.',
  ['Credential.byDocument(Author.byId(1)).exists()', 'true'],
  (_, document, call) => call.evaluation.world.access.credentialOf(document),
)

export const natives: readonly Native[] = [
  named(native.access_providers, 'AccessProvider'),
  named(
    native.collections,
    'Collection',
    [
      field('Deleted', {
        result: 'Module',
        summary: 'The value of `coll` in documents whose collection was deleted.',
        example: ['Collection.Deleted', 'Collection.Deleted'],
        read: () => deletedCollection,
      }),
    ],
    applyCollection,
  ),
  numbered(
    native.credentials,
    'Credential',
    [credentialOf],
    numberedDocumentMembers('CredentialDocument', credentialMethods),
  ),
  named(native.databases, 'Database'),
  named(native.functions, 'Function', [], applyFunction),
  numbered(native.keys, 'Key'),
  named(native.roles, 'Role'),
  numbered(native.tokens, 'Token', [tokensOf]),
]

const byNumber: ReadonlyMap<number, Native> = new Map(natives.map(each => [each.number, each]))
const numbers: ReadonlyMap<Module, number> = new Map(natives.map(each => [each.module, each.number]))

/** The native collection with the given number. Undefined for user collections, and for version 4's indexes. */
export function nativeOf(number: number): Native | undefined {
  return byNumber.get(number)
}

/** Throws a RangeError for other numbers than those of native collections. */
export function nativeModule(number: number): Module {
  const found = nativeOf(number)
  if (found === undefined) throw new RangeError(`${number} is not a native collection`)
  return found.module
}

/** The number of a native collection. Undefined for any other module. */
export function nativeNumber(module: Module): number | undefined {
  return numbers.get(module)
}

/** The number of a collection in references to its documents; 0 for modules that are not collections. */
export function collectionNumber(module: Module): number {
  return module instanceof UserCollection ? Number(module.ref.id) : (nativeNumber(module) ?? 0)
}

export function documentTable({ ref }: Doc): Members {
  return byNumber.get(ref.collection)?.documents ?? documentMembers
}
