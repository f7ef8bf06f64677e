// Creating schema objects and keys; moving databases.

import { type NativeName, native, Ref, type Value } from '../../values/value.ts'
import { databaseRef, object } from '../arguments.ts'
import { type Call, define, family, required } from '../definition.ts'
import { permissionDenied } from '../permissions.ts'
import { resourceOf } from '../resources/kinds.ts'
import { viewDocument } from '../view-document.ts'
import { createDocument, notFound, refuseOtherTime } from '../write.ts'

/** `create_x`: `create` in that native collection. */
function creator(
  name: string,
  kind: NativeName,
  what: string,
  params: string,
  options: { since?: '4'; deprecatedFor?: string } = {},
) {
  return define({
    name,
    effect: 'write',
    ...options,
    arguments: { [name]: required(object) },
    result: 'Document',
    summary: `Creates ${what}.`,
    example: [`{"exists": {"select": "ref", "from": {"${name}": {"object": ${params}}}}}`, 'true'],
    evaluate(args, call) {
      return createDocument(
        ownCollection(kind, call),
        undefined,
        args[name] as ReadonlyMap<string, Value>,
        call,
        name,
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
  creator('create_key', 'keys', 'a key and shows its secret this once', '{"role": "client"}'),
  creator(
    'create_access_provider',
    'access_providers',
    'an access provider, an issuer of third-party tokens',
    '{"name": "login_service", "issuer": "https://login.example", "jwks_uri": "https://login.example/jwks.json"}',
    { since: '4' },
  ),
  define({
    name: 'move_database',
    effect: 'write',
    arguments: { move_database: required(databaseRef), to: required(databaseRef) },
    result: 'Document',
    summary: 'Puts a database with everything in it under another parent.',
    example: [
      '{"select": "name", "from": {"move_database": {"database": "one"}, "to": {"database": "other"}}}',
      '"one"',
    ],
    evaluate: (args, call) => moveDatabase(args.move_database, args.to, call),
  }),
])

/** A native collection of the database that the query runs in. */
function ownCollection(kind: NativeName, call: Call): Ref {
  return new Ref(call.evaluation.database, native.collections, BigInt(native[kind]))
}

function moveDatabase(source: Ref, target: Ref, call: Call): Value {
  refuseOtherTime(call)
  const { catalogue } = call.evaluation.transaction
  const moved = catalogue.database(source.id)
  const parent = catalogue.database(target.id)
  const label = resourceOf(native.databases)
  if (!moved || !parent) throw notFound(label, call)
  // What counts for a database further down, too, is the right to delete databases here.
  const resource = ownCollection('databases', call)
  const right = { action: 'delete', resource, document: source, argument: () => source, asker: call } as const
  if (!call.evaluation.access.allows(right)) throw permissionDenied(call)
  if (isInside(target.id, source.id, call)) {
    const reason = 'Cannot move database from ancestor to descendant.'
    const text = `Cannot move database '${moved.name}' into parent '${parent.name}': ${reason}`
    throw call.error('move database error', text)
  }
  if (catalogue.resolve(target.id, native.databases, moved.name)) {
    throw call.error('instance already exists', 'Database already exists.')
  }
  const version = call.placing(() => call.evaluation.transaction.moveDatabase(source, target.id))
  return viewDocument(version, call.evaluation, true)
}

/** Whether a database is another one or lies in it. */
function isInside(database: Ref['database'], outer: Ref['database'], call: Call): boolean {
  const { catalogue } = call.evaluation.transaction
  for (let id = database; ; ) {
    if (id === outer) return true
    const definition = catalogue.database(id)
    if (!definition) return false
    id = definition.parent
  }
}
