// Documents that are read repeatedly are rendered from cached text, which must equal a new rendering.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { renderValue } from '../../../src/fql4/wire/render.ts'
import type { ApiVersion } from '../../../src/fql4/wire/version.ts'
import {
  DocumentValue,
  native,
  Ref,
  type RefTails,
  RenderCache,
  TransactionTime,
  type Value,
} from '../../../src/values/value.ts'
import { openTestEngine } from '../../support/engine.ts'

const object = (fields: Readonly<Record<string, unknown>>) => ({ object: fields })
const collection = (name: string) => ({ '@ref': { id: name, collection: { '@ref': { id: 'collections' } } } })
const document = (name: string, id: number) => ({ '@ref': { id: String(id), collection: collection(name) } })

test('the text of documents follows renames of the objects it refers to', async t => {
  const { close, query, send } = openTestEngine()
  t.after(close)
  for (const name of ['spells', 'owners']) await query({ create_collection: object({ name }) })
  await query({ create: { ref: { collection: 'owners' }, id: 7 } })
  const owned = object({ data: object({ owner: document('owners', 7) }) })
  await query({ create: { ref: { collection: 'spells' }, id: 1 }, params: owned })
  const shown = async (spells: string, apiVersion: ApiVersion = '4') => {
    const bodies = new Set<string>()
    for (let n = 0; n < 4; n++) bodies.add((await send({ get: document(spells, 1) }, { apiVersion })).body)
    assert.equal(bodies.size, 1)
    const { ref, data } = JSON.parse([...bodies][0] as string).resource
    return { ref, owner: data.owner }
  }
  const expected = (spells: string, owners: string) => ({
    ref: document(spells, 1),
    owner: document(owners, 7),
  })
  assert.deepEqual(await shown('spells'), expected('spells', 'owners'))
  assert.match(JSON.stringify(await shown('spells', '2.1')), /"id":"7","class":/)
  await query({ update: { collection: 'owners' }, params: object({ name: 'masters' }) })
  assert.deepEqual(await shown('spells'), expected('spells', 'masters'))
  await query({ update: { collection: 'spells' }, params: object({ name: 'charms' }) })
  assert.deepEqual(await shown('charms'), expected('charms', 'masters'))
  await query({ delete: { collection: 'masters' } })
  assert.deepEqual(await shown('charms'), expected('charms', 'masters'))
})

const home = 5n
const there = new Ref(home, 1024, 1n)

/** Renders a document that contains a value twice; returns the text and whether it is cached. */
function show(held: Value, tails: RefTails, nameOf: (ref: Ref) => string | undefined = () => 'spells') {
  const fields = new Map([['held', held]])
  const shown = new RenderCache(fields)
  const version = new DocumentValue(there, micros(1), fields, false, shown)
  const names = {
    scope: home,
    tails,
    nameOf,
    databaseDocument: () => undefined,
    hasCollection: (id: number) => id === 1024,
  }
  const render = () => renderValue(version, { apiVersion: '4', names, transactionTime: micros(2) })
  const text = render()
  assert.equal(render(), text)
  return { text, isRemembered: shown.text !== undefined, render, shown }
}

test('text is cached with the names used to render it', () => {
  const tails: RefTails = new Map()
  assert.equal(show(there, tails).isRemembered, true)
  assert.deepEqual([...tails.keys()], [1024])
  let name = 'spells'
  const { render, shown, text } = show(there, tails, () => name)
  name = 'charms'
  assert.equal(render(), text, 'while the tails are the same, so are the names')
  shown.tails = new Map()
  tails.clear()
  assert.equal(render(), text?.replaceAll('spells', 'charms'))
})

test('text is not cached when it depends on more than names in the scope', () => {
  const others: readonly [string, Value][] = [
    ['a document of another database', new Ref(6n, 1024, 1n)],
    ['a document whose collection is gone', new Ref(home, 1025, 1n)],
    ['a schema object', new Ref(home, native.functions, 1n)],
    ['the time of the transaction', TransactionTime.time],
  ]
  for (const [title, held] of others) assert.equal(show(held, new Map()).isRemembered, false, title)
  assert.equal(show('text', new Map()).isRemembered, true)
})

test('the id of a key is a number, whatever name it has', async t => {
  const { close, query } = openTestEngine()
  t.after(close)
  const made = { create_key: object({ role: 'admin', name: 'for the shop' }) }
  const id = await query({ select: ['ref', 'id'], from: made })
  assert.match(String(id), /^\d+$/)
})
