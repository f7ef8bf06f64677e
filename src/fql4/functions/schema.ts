// Functions that create schema objects and keys, and the function that moves databases.

import { viewDocument } from '../../model/view-document.ts'
import { createDocument, moveDatabase } from '../../model/write.ts'
import { collectionOf, type NativeName, native, type Value } from '../../values/value.ts'
import { databaseRef, object } from '../arguments.ts'
import { define, family, type Lifetime } from '../definition.ts'
import { creationRules } from './documents.ts'

/** Defines a function `create_…`, which creates a document in a native collection. */
function creator(name: string, kind: NativeName, what: string, params: string, lifetime: Lifetime = {}) {
  return define({
    effect: 'write',
    ...lifetime,
    arguments: { [name]: object },
    result: 'Document',
    summary: `Creates ${what}.`,
    example: [`{"exists": {"select": "ref", "from": {"${name}": {"object": ${params}}}}}`, 'true'],
    evaluate(args, call) {
      return createDocument(
        collectionOf({ database: call.session.database, collection: native[kind] }),
        undefined,
        args[name] as ReadonlyMap<string, Value>,
        call.session,
        creationRules(call),
      )
    },
  })
}

export const schema = family('Schema', [
  creator('create_database', 'databases', 'a child database', '{"name": "garden"}'),
  creator('create_collection', 'collections', 'a collection', '{"name": "plants"}'),
  creator('create_class', 'collections', 'a collection', '{"name": "plants"}', {
    deprecatedFor: 'create_collection',
  }),
  creator(
    'create_index',
    'indexes',
    'an index',
    '{"name": "all_spells", "source": {"collection": "spells"}}',
  ),
  creator(
    'create_function',
    'functions',
    'a user function',
    '{"name": "twice", "body": {"query": {"lambda": "n", "expr": {"add": [{"var": "n"}, {"var": "n"}]}}}}',
  ),
  creator('create_role', 'roles', 'a role', '{"name": "gardener"}'),
  creator('create_key', 'keys', 'a key; only this response contains its secret', '{"role": "client"}'),
  creator(
    'create_access_provider',
    'access_providers',
    'an access provider, an issuer of third-party tokens',
    '{"name": "login_service", "issuer": "https://login.example", "jwks_uri": "https://login.example/jwks.json"}',
    { since: '4' },
  ),
  define({
    effect: 'write',
    arguments: { move_database: databaseRef, to: databaseRef },
    result: 'Document',
    summary: 'Moves the database `move_database`, with all its content, into the database `to`.',
    example: [
      '{"select": "name", "from": {"move_database": {"database": "one"}, "to": {"database": "other"}}}',
      '"one"',
    ],
    evaluate: (args, call) =>
      viewDocument(moveDatabase(args.move_database, args.to, call.session), call.session, true),
  }),
])
