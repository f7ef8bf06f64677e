// Fills a database so that every page of the dashboard has content, and lists the addresses of all pages.

import { fql } from '../support/http.ts'
import type { Stage } from './stage.ts'

/** The texts in the data, ordinary or hostile. */
export interface Texts {
  /** Names of schema objects: letters and a few signs. */
  readonly name: (kind: string) => string
  /** Text for all other places. */
  readonly text: string
}

export const ordinaryTexts: Texts = { name: kind => `a_${kind}`, text: 'some text' }

/** Fills the database of a stage. Resolves with the addresses of all pages below `/dashboard/`. */
export async function fill(stage: Stage, { name, text }: Texts): Promise<readonly string[]> {
  const collection = name('collection')
  const fields = { [text]: text, name: text, list: [text, { object: { [text]: text } }], __proto__x: text }
  await stage.query({ create_database: { object: { name: name('database') } } })
  await stage.query({ create_collection: { object: { name: collection, data: { object: { note: text } } } } })
  const documents = { collection }
  const user = { ref: documents, id: '1' }
  await stage.query({
    create: user,
    params: {
      object: {
        data: { object: { ...fields, ['__proto__']: text, when: { now: null } } },
        credentials: { object: { password: 'pw' } },
      },
    },
  })
  await stage.query({ update: user, params: { object: { data: { object: { more: text, self: user } } } } })
  const deleted = { ref: documents, id: '2' }
  await stage.query({ create: deleted, params: { object: { data: { object: fields } } } })
  await stage.query({ delete: deleted })
  await stage.query({
    create_index: {
      object: {
        name: name('index'),
        source: documents,
        terms: [{ object: { field: ['data', text] } }],
        values: [{ object: { field: ['data', 'name'] } }, { object: { field: ['ref'] } }],
      },
    },
  })
  const ownIndex = 'Collection.byName(name)!.update({ indexes: { byName: { terms: [{ field: ".name" }] } } })'
  await fql(stage.server, stage.admin, ownIndex, { name: collection })
  const body = { query: { lambda: 'x', expr: { concat: [text, { var: 'x' }] } } }
  await stage.query({
    create_function: { object: { name: name('function'), body, data: { object: { note: text } } } },
  })
  const predicate = { query: { lambda: 'ref', expr: { equals: [text, { var: 'ref' }] } } }
  await stage.query({
    create_role: {
      object: {
        name: name('role'),
        privileges: [
          { object: { resource: documents, actions: { object: { read: predicate, create: true } } } },
        ],
        membership: [{ object: { resource: documents } }],
        data: { object: { note: text } },
      },
    },
  })
  const data = { object: { name: text } }
  const key = (await stage.query({
    create_key: { object: { role: { role: name('role') }, data } },
  })) as DocumentReference
  const token = (await stage.query({
    login: user,
    params: { object: { password: 'pw', data } },
  })) as DocumentReference
  await stage.query({
    create_access_provider: {
      object: { name: name('provider'), issuer: text, jwks_uri: 'https://idp.example/keys', data },
    },
  })
  const at = (...steps: readonly string[]) => steps.map(encodeURIComponent).join('/')
  return [
    '',
    at('collections', collection),
    at('collections', collection, 'deleted'),
    at('collections', collection, 'settings'),
    at('collections', collection, 'import'),
    at('collections', collection, 'new'),
    at('collections', collection, '1'),
    at('collections', collection, '1', 'history'),
    'diagram',
    'indexes',
    at('collections', collection, 'indexes', 'byName'),
    at('indexes', name('index')),
    'events',
    'functions',
    at('functions', name('function')),
    'schema-files',
    'graphql',
    'shell',
    'roles',
    at('roles', name('role')),
    'keys',
    at('keys', key.ref['@ref'].id),
    'tokens',
    at('tokens', token.ref['@ref'].id),
    'credentials',
    'access-providers',
    at('access-providers', name('provider')),
    'denied',
    'logs',
    'health',
    'no-such-page',
    'indexes?at=rubbish',
    '?db=another/database',
  ]
}

interface DocumentReference {
  readonly ref: { readonly '@ref': { readonly id: string } }
}
