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
  const create = (kind: string, fields: object) =>
    stage.query({ [`create_${kind}`]: { object: { name: name(kind), ...fields } } })
  await create('database', {})
  const note = { object: { note: text } }
  await create('collection', { data: note })
  const documents = { collection }
  const user = { ref: documents, id: '1' }
  const data1 = { object: { ...fields, ['__proto__']: text, when: { now: null } } }
  const credentials = { object: { password: 'pw' } }
  await stage.query({ create: user, params: { object: { data: data1, credentials } } })
  await stage.query({ update: user, params: { object: { data: { object: { more: text, self: user } } } } })
  const deleted = { ref: documents, id: '2' }
  await stage.query({ create: deleted, params: { object: { data: { object: fields } } } })
  await stage.query({ delete: deleted })
  const terms = [{ object: { field: ['data', text] } }]
  const values = [{ object: { field: ['data', 'name'] } }, { object: { field: ['ref'] } }]
  await create('index', { source: documents, terms, values })
  const ownIndex = 'Collection.byName(name)!.update({ indexes: { byName: { terms: [{ field: ".name" }] } } })'
  await fql(stage.server, stage.admin, ownIndex, { name: collection })
  const body = { query: { lambda: 'x', expr: { concat: [text, { var: 'x' }] } } }
  await create('function', { body, data: note })
  const predicate = { query: { lambda: 'ref', expr: { equals: [text, { var: 'ref' }] } } }
  const actions = { object: { read: predicate, create: true } }
  const privileges = [{ object: { resource: documents, actions } }]
  await create('role', { privileges, membership: [{ object: { resource: documents } }], data: note })
  const data = { object: { name: text } }
  const role = { role: name('role') }
  const key = (await stage.query({ create_key: { object: { role, data } } })) as DocumentReference
  const login = { login: user, params: { object: { password: 'pw', data } } }
  const token = (await stage.query(login)) as DocumentReference
  const provider = { name: name('provider'), issuer: text, jwks_uri: 'https://idp.example/keys', data }
  await stage.query({ create_access_provider: { object: provider } })
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
