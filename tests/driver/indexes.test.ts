// Indexes: creation, pages and bindings.

import assert from 'node:assert/strict'
import { type App, type Client, type Document, driverTests, type Page, q, type Ref, values } from './app.ts'

const driverTest = driverTests()

interface Index {
  readonly ref: Ref
  readonly ts: number
  readonly name: string
  readonly active: boolean
  readonly serialized: boolean
  readonly partitions: number
}

async function withCollection(app: App): Promise<Client> {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'spells' }))
  return server
}

const field = (name: string) => ({ field: ['data', name] })

driverTest('creating an index returns its definition', async app => {
  const server = await withCollection(app)
  const made = await server.query<Index>(
    q.CreateIndex({
      name: 'spells_by_element',
      source: q.Collection('spells'),
      terms: [field('element')],
      values: [field('name'), { field: ['ref'] }],
      unique: false,
    }),
  )
  assert.deepEqual(made.ref, new values.Ref('spells_by_element', values.Native.INDEXES))
  assert.equal(made.active, true)
  assert.equal(made.serialized, true)
  assert.equal(made.partitions, 1)
  assert.deepEqual(await server.query(q.Get(made.ref)), made)
  const all = await server.query<Index>(q.CreateIndex({ name: 'all_spells', source: q.Collection('spells') }))
  assert.equal(all.partitions, 8)
})

driverTest('pages can be read forward and backward, by cursor and with the page helper', async app => {
  const server = await withCollection(app)
  await server.query(q.CreateIndex({ name: 'by_n', source: q.Collection('spells'), values: [field('n')] }))
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  await server.query(
    q.Foreach(numbers, q.Lambda('n', q.Create(q.Collection('spells'), { data: { n: q.Var('n') } }))),
  )
  const set = q.Match(q.Index('by_n'))

  const first = await server.query<Page<number>>(q.Paginate(set, { size: 4 }))
  assert.deepEqual(first.data, [0, 1, 2, 3])
  assert.equal(first.before, undefined)
  const second = await server.query<Page<number>>(q.Paginate(set, { size: 4, after: first.after }))
  assert.deepEqual(second.data, [4, 5, 6, 7])
  const last = await server.query<Page<number>>(q.Paginate(set, { size: 4, after: second.after }))
  assert.deepEqual(last.data, [8, 9])
  assert.equal(last.after, undefined)
  const back = await server.query<Page<number>>(q.Paginate(set, { size: 4, before: second.before }))
  assert.deepEqual(back.data, [0, 1, 2, 3])

  const read: unknown[] = []
  await server.paginate(set, { size: 3 }).each(page => {
    read.push(...(page as unknown[]))
  })
  assert.deepEqual(read, numbers)
})

driverTest(
  'a binding keeps its references to renamed collections until the document is written',
  async app => {
    const server = await app.as('server')
    for (const name of ['notes', 'users']) await server.query(q.CreateCollection({ name }))
    await server.query(
      q.CreateIndex({
        name: 'notes_by_target',
        source: {
          collection: q.Collection('notes'),
          fields: {
            target: q.Query(
              q.Lambda('note', q.Ref(q.Collection(q.Select(['data', 'to'], q.Var('note'))), '123')),
            ),
          },
        },
        terms: [{ binding: 'target' }],
      }),
    )
    const note = await server.query<Document>(q.Create(q.Collection('notes'), { data: { to: 'users' } }))
    const found = async (target: unknown) =>
      (await server.query<Page<Ref>>(q.Paginate(q.Match(q.Index('notes_by_target'), target as Ref)))).data
    assert.deepEqual(await found(q.Ref(q.Collection('users'), '123')), [note.ref])
    await server.query(q.Update(q.Collection('users'), { name: 'people' }))
    await server.query(q.CreateCollection({ name: 'users' }))
    assert.deepEqual(await found(q.Ref(q.Collection('people'), '123')), [note.ref])
    assert.deepEqual(await found(q.Ref(q.Collection('users'), '123')), [])
    await server.query(q.Update(note.ref, { data: { again: true } }))
    assert.deepEqual(await found(q.Ref(q.Collection('users'), '123')), [note.ref])
    await server.query(q.Delete(q.Collection('users')))
    await server.query(q.Delete(note.ref))
    assert.deepEqual(await found(q.Ref(q.Collection('people'), '123')), [])
  },
)
