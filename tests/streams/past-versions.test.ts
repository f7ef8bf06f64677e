// Events show a past version of a document only to viewers who could read it then, or who may read its history.

import assert from 'node:assert/strict'
import { fql } from '../support/http.ts'
import type { StreamReader } from './stream-client.ts'
import { type App, lambda, privilege, streamTests, wire } from './streams-app.ts'

const streamTest = streamTests()

const things = { collection: 'things' }
const thing = { ref: things, id: '7' }
const allFields = 'action,document,diff,prev,index'

const isOk = lambda('ref', { equals: [{ select: ['data', 'ok'], from: { get: { var: 'ref' } } }, 1] })

/** The next event, without references. */
async function nextOf(reader: StreamReader): Promise<Record<string, unknown>> {
  const { event } = await reader.next()
  const shown = event as Record<string, Record<string, unknown> | string>
  return Object.fromEntries(
    Object.entries(shown).map(([name, member]) => [
      name,
      typeof member === 'string' ? member : (member.data ?? member.values ?? null),
    ]),
  )
}

async function readerOf(app: App, privileges: readonly unknown[], of: unknown = thing, fields = allFields) {
  const { secret } = await app.keyOfRole(privileges)
  return app.stream(of, { secret, fields })
}

streamTest('an update that makes a document readable does not show the previous version', async app => {
  await app.create({ ok: 0, v: 'HIDDEN' }, '7')
  const reader = await readerOf(app, [privilege(things, { read: isOk })])
  await app.update(thing, { ok: 1 })
  assert.deepEqual(await nextOf(reader), { action: 'update', document: { ok: 1, v: 'HIDDEN' } })
  await app.update(thing, { v: 'shown' })
  assert.deepEqual(await nextOf(reader), {
    action: 'update',
    document: { ok: 1, v: 'shown' },
    diff: { v: 'shown' },
    prev: { ok: 1, v: 'HIDDEN' },
  })
})

streamTest('the right to read history shows the previous version', async app => {
  await app.create({ ok: 0, v: 'old' }, '7')
  const reader = await readerOf(app, [privilege(things, { read: isOk, history_read: true })])
  await app.update(thing, { ok: 1, v: 'new' })
  assert.deepEqual(await nextOf(reader), {
    action: 'update',
    document: { ok: 1, v: 'new' },
    diff: { ok: 1, v: 'new' },
    prev: { ok: 0, v: 'old' },
  })
})

streamTest(
  'a right to read that the transaction itself grants does not show previous versions',
  async app => {
    await fql(app.server, app.secret, 'Collection.create({ name: "Grant" })')
    await fql(
      app.server,
      app.secret,
      'Grant.create({ id: 1, ok: false }); things.create({ id: 7, v: "HIDDEN" })',
    )
    await fql(
      app.server,
      app.secret,
      'Role.create({ name: "tested", privileges: { resource: "things", actions: { read: "_ => Grant.byId(1)!.ok" } } })',
    )
    const { secret } = (await app.query({ create_key: { object: { role: { role: 'tested' } } } })) as {
      secret: string
    }
    const reader = await app.stream(thing, { secret, fields: allFields })
    await fql(
      app.server,
      app.secret,
      'Grant.byId(1)!.update({ ok: true }); things.byId(7)!.update({ v: "new" })',
    )
    assert.deepEqual(await nextOf(reader), { action: 'update', document: { v: 'new' } })
  },
)

streamTest('a delete does not show a document that was not readable', async app => {
  await app.create({ ok: 0, v: 'HIDDEN' }, '7')
  const { secret } = await app.keyOfRole([])
  await fql(
    app.server,
    app.secret,
    'Role.byName("tested")!.update({ privileges: { resource: "things", actions: { read: "d => d?.ok != 0" } } })',
  )
  const reader = await app.stream(thing, { secret })
  await app.delete(thing)
  const gone = await reader.next()
  const found = [gone.text.includes('HIDDEN'), (gone.event as { document: { ts: number } }).document.ts]
  assert.deepEqual(found, [false, gone.txn])
  await app.create({ ok: 1, v: 'shown' }, '7')
  assert.deepEqual(await nextOf(reader), { action: 'create', document: { ok: 1, v: 'shown' } })
  await app.delete(thing)
  assert.deepEqual(await nextOf(reader), { action: 'delete', document: { ok: 1, v: 'shown' } })
})

async function createByTeam(app: App): Promise<void> {
  const terms = wire([{ field: ['data', 'team'] }])
  const values = wire([{ field: ['data', 'v'] }])
  await app.query({ create_index: { object: { name: 'by_team', source: things, terms, values } } })
}

const inIndex: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>, unknown])[] = [
  ['not to a viewer without the right to read the old version', { read: true }, { read: isOk }, undefined],
  [
    'to a viewer with the right to read its history',
    { read: true },
    { read: isOk, history_read: true },
    ['OLD'],
  ],
  ['to a viewer with unrestricted rights to the set', { unrestricted_read: true }, { read: isOk }, ['OLD']],
]

for (const [title, ofIndex, ofDocuments, shown] of inIndex) {
  streamTest(`the values of a removed entry are shown ${title}`, async app => {
    await createByTeam(app)
    await app.create({ team: 'red', ok: 0, v: 'OLD' }, '7')
    const privileges = [privilege({ index: 'by_team' }, ofIndex), privilege(things, ofDocuments)]
    const reader = await readerOf(
      app,
      privileges,
      { match: { index: 'by_team' }, terms: 'red' },
      'action,index',
    )
    await app.update(thing, { ok: 1, v: 'NEW' })
    const events = [await nextOf(reader), await nextOf(reader)]
    assert.deepEqual(events, [
      shown === undefined ? { action: 'remove' } : { action: 'remove', index: shown },
      { action: 'add', index: ['NEW'] },
    ])
  })
}
