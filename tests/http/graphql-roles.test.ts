// Each operation of GraphQL must give a caller with restricted rights exactly what the equal query of version 4 gives:
// the same data, the same error, and the same stored documents afterwards. The operations run in one database, and the
// queries in a second database with the same content.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { importSchema, runOperation } from '../support/graphql.ts'
import { keyOfNewDatabase, runText, sendText } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

const sdl = `
type Person { name: String! }
type Board {
  title: String!
  owner: Person
  cover: Cover
  notes: [Note!] @relation
  tags: [Tag!] @relation
}
type Cover { colour: String! board: Board }
type Note { text: String! hidden: Boolean board: Board }
type Tag { name: String! boards: [Board!] @relation }
type Query {
  allNotes: [Note]
  noteCount: Int @resolver
  pagedNotes: [Note] @resolver(paginated: true)
}
type Mutation { erase(id: ID!): Note @resolver }
`

const ref = (collection: string, id: number) => `Ref(Collection("${collection}"), "${id}")`
const board = (id: number) => ref('Board', id)
const note = (id: number) => ref('Note', id)
const create = (target: string, data: string) => `Create(${target}, {data: ${data}})`
const same = (left: string, right = 'CurrentIdentity()') => `Equals(${left}, ${right})`
const dataOf = (field: string, document: string) => `Select(["data", "${field}"], ${document}, null)`
const ownerOf = (boardRef: string) => dataOf('owner', `Get(${boardRef})`)
const lambda = (parameters: string, body: string) => `Query(Lambda(${parameters}, ${body}))`
/** A predicate about the document of a reference. */
const about = (body: (document: string) => string) => lambda('"ref"', body('Get(Var("ref"))'))
const privilege = (resource: string, actions: string) => `{resource: ${resource}, actions: {${actions}}}`
const collection = (name: string, actions: string) => privilege(`Collection("${name}")`, actions)

const isVisible = about(document => `Not(${same(dataOf('hidden', document), 'true')})`)
const ownsBoard = (fields: string) => same(ownerOf(dataOf('board', fields)))
const indexes = ['allNotes', 'board_notes_by_board', 'board_tags_by_board', 'board_tags_by_board_and_tag']
const readIndexes = [...indexes, 'board_cover_by_board']
  .map(name => privilege(`Index("${name}")`, 'read: true'))
  .join(', ')

const isNoStranger = about(document => `Not(${same(dataOf('name', document), '"stranger"')})`)

/** Members own boards, and may change what belongs to them. They may not create or change tags. */
const member = `CreateRole({name: "member", membership: [{resource: Collection("Person"), predicate: ${isNoStranger}}], privileges: [
  ${collection('Person', `read: ${lambda('"ref"', same('Var("ref")'))}`)},
  ${collection(
    'Board',
    `read: true,
    create: ${lambda('"fields"', same(dataOf('owner', 'Var("fields")')))},
    write: ${lambda('["before", "after"]', `And(${same(dataOf('owner', 'Var("before")'))}, ${same(dataOf('owner', 'Var("after")'))})`)},
    delete: ${about(document => same(dataOf('owner', document)))}`,
  )},
  ${collection(
    'Note',
    `read: ${isVisible},
    create: ${lambda('"fields"', ownsBoard('Var("fields")'))},
    write: ${lambda('["before", "after"]', `And(${ownsBoard('Var("before")')}, ${ownsBoard('Var("after")')})`)},
    delete: ${about(ownsBoard)}`,
  )},
  ${collection(
    'Cover',
    `read: true,
    create: ${lambda('"fields"', ownsBoard('Var("fields")'))},
    write: ${lambda('["before", "after"]', ownsBoard('Var("before")'))}`,
  )},
  ${collection('Tag', 'read: true')},
  ${collection(
    'board_tags',
    `read: true,
    create: ${lambda('"fields"', same(ownerOf(dataOf('boardID', 'Var("fields")'))))},
    delete: ${about(document => same(ownerOf(dataOf('boardID', document))))}`,
  )},
  ${privilege('Function("noteCount")', 'call: true')},
  ${privilege('Function("pagedNotes")', `call: ${lambda('["size", "after", "before"]', 'LTE(Var("size"), 10)')}`)},
  ${readIndexes}]})`

/** A role for keys: its predicates concern only the documents. */
const auditor = `CreateRole({name: "auditor", privileges: [
  ${collection('Board', `read: ${lambda('"ref"', same('Var("ref")', board(1)))}`)},
  ${collection(
    'Note',
    `read: ${isVisible},
    create: ${lambda('"fields"', `Not(${same(dataOf('text', 'Var("fields")'), '"forbidden"')})`)},
    write: ${lambda('["before", "after"]', same(dataOf('text', 'Var("before")'), dataOf('text', 'Var("after")')))}`,
  )},
  ${collection('board_tags', `read: ${about(document => same(dataOf('tagID', document), ref('Tag', 1)))}, delete: true`)},
  ${privilege('Function("erase")', `call: ${lambda('["id"]', same('Var("id")', '"8"'))}`)},
  ${readIndexes}]})`

/** May list all notes, also those that it may not read. */
const lister = `CreateRole({name: "lister", privileges: [
  ${collection('Note', `read: ${isVisible}`)},
  ${privilege('Index("allNotes")', 'unrestricted_read: true')}]})`

const setups = [
  `Do(${[
    ...['Ann', 'Bob', 'stranger'].map(
      (name, at) =>
        `Create(${ref('Person', at + 1)}, {data: {name: "${name}"}, credentials: {password: "secret"}})`,
    ),
    create(board(1), `{title: "first", owner: ${ref('Person', 1)}}`),
    create(board(2), `{title: "second", owner: ${ref('Person', 2)}}`),
    create(ref('Cover', 1), `{colour: "red", board: ${board(1)}}`),
    ...[1, 2, 3].map(id => create(ref('Tag', id), `{name: "tag ${id}"}`)),
    ...[1, 2].map(id => create(ref('board_tags', id), `{boardID: ${board(1)}, tagID: ${ref('Tag', id)}}`)),
    ...Array.from({ length: 12 }, (_, at) =>
      create(
        note(at + 1),
        `{text: "note ${at + 1}", hidden: ${at % 3 === 1}, board: ${board(at < 9 ? 1 : 2)}}`,
      ),
    ),
  ].join(', ')})`,
  `Update(Function("noteCount"), {role: "server", body: Query(Lambda([], Count(Documents(Collection("Note")))))})`,
  `Update(Function("pagedNotes"), {body: Query(Lambda(["size", "after", "before"],
    Let({
      cursor: If(Equals(Var("before"), null), If(Equals(Var("after"), null), null, {after: Var("after")}), {before: Var("before")}),
      page: Paginate(Match(Index("allNotes")), {size: Var("size"), cursor: Var("cursor")})
    }, Map(Var("page"), Lambda("ref", Get(Var("ref")))))))})`,
  `Update(Function("erase"), {role: "server", body: Query(Lambda(["id"], Delete(Ref(Collection("Note"), Var("id")))))})`,
  member,
  auditor,
  lister,
]

type Caller = 'Ann' | 'Bob' | 'stranger' | 'auditor' | 'lister'
type Secrets = Readonly<Record<Caller | 'admin', string>>

async function database(name: string): Promise<Secrets> {
  const admin = await keyOfNewDatabase(server, name, 'admin')
  await importSchema(server, admin, sdl)
  for (const each of setups) await runText(server, admin, each)
  const secretOf = async (expression: string) =>
    (await runText(server, admin, `Select("secret", ${expression})`)) as string
  const tokenOf = (id: number) => secretOf(`Login(${ref('Person', id)}, {password: "secret"})`)
  return {
    admin,
    Ann: await tokenOf(1),
    Bob: await tokenOf(2),
    stranger: await tokenOf(3),
    auditor: await secretOf('CreateKey({role: Role("auditor")})'),
    lister: await secretOf('CreateKey({role: Role("lister")})'),
  }
}

let operations: Secrets
let queries: Secrets
before(async () => {
  operations = await database('operations')
  queries = await database('queries')
})

const collections = ['Board', 'Cover', 'Note', 'Tag', 'board_tags']

/** All documents. Generated ids are replaced by their order. */
async function contentOf({ admin }: Secrets): Promise<unknown> {
  const documents = (name: string) =>
    `Map(Paginate(Documents(Collection("${name}")), {size: 1000}), Lambda("ref", [Var("ref"), Select("data", Get(Var("ref")))]))`
  const text = JSON.stringify(await runText(server, admin, `[${collections.map(documents).join(', ')}]`))
  const generated = [...new Set(text.match(/\b\d{16,}\b/g))].sort((left, right) =>
    Number(BigInt(left) - BigInt(right)),
  )
  return JSON.parse(text.replace(/\b\d{16,}\b/g, id => `generated ${generated.indexOf(id)}`))
}

interface Outcome {
  readonly data?: unknown
  /** The code and the text of an error. */
  readonly error?: readonly [string, string]
}

async function byOperation(caller: Caller, operation: string): Promise<Outcome> {
  const { data, errors } = await runOperation(server, operations[caller], operation)
  const [error] = errors ?? []
  return error === undefined ? { data } : { error: [error.extensions?.code ?? '', error.message] }
}

/** GraphQL has the texts of an earlier version. */
const olderText: Readonly<Record<string, string>> = {
  'document is not unique.': 'Instance is not unique.',
  'Document not found.': 'Instance not found.',
}

async function byQuery(caller: Caller, expression: string): Promise<Outcome> {
  const { json } = await sendText(server, queries[caller], expression)
  interface Entry {
    readonly code: string
    readonly description: string
    readonly cause?: readonly Entry[]
  }
  const { errors, resource } = json as { readonly errors?: readonly Entry[]; readonly resource?: unknown }
  let error = errors?.[0]
  while (error?.cause?.[0] !== undefined) error = error.cause[0]
  if (error === undefined) return { data: { it: resource } }
  const { code, description } = error
  return {
    error: [code, olderText[description] ?? description.charAt(0).toUpperCase() + description.slice(1)],
  }
}

/** `operation`: its root field has the alias `it`. `expected`: the value of this field, or the code of an error. */
async function compare(
  caller: Caller,
  operation: string,
  expression: string,
  expected: { readonly is: unknown } | { readonly fails: string },
): Promise<void> {
  const [left, right] = [await byOperation(caller, operation), await byQuery(caller, expression)]
  assert.deepEqual(left, right, `${caller}: ${operation}`)
  if ('fails' in expected) assert.equal(left.error?.[0], expected.fails, `${caller}: ${operation}`)
  else assert.deepEqual(left.data, { it: expected.is }, `${caller}: ${operation}`)
  assert.deepEqual(await contentOf(operations), await contentOf(queries), `${caller}: ${operation}`)
}

const denied = { fails: 'permission denied' }
const shown = (document: string) => `{text: ${dataOf('text', document)}}`
const titled = (document: string) => `{title: ${dataOf('title', document)}}`
const ifExists = (target: string, then: string) => `If(Exists(${target}), ${then}, null)`
const createNote = (data: string) => `mutation { it: createNote(data: ${data}) { text } }`
const update = (target: string, data: string) => `Update(${target}, {data: ${data}})`

describe('reads', () => {
  const find = (id: number) => `{ it: findNoteByID(id: ${id}) { text board { title owner { name } } } }`
  const fields = `{text: ${dataOf('text', 'Var("note")')}, board: Let({b: ${dataOf('board', 'Var("note")')}}, ${ifExists(
    'Var("b")',
    `{title: ${dataOf('title', 'Get(Var("b"))')}, owner: Let({o: ${ownerOf('Var("b")')}}, ${ifExists('Var("o")', `{name: ${dataOf('name', 'Get(Var("o"))')}}`)})}`,
  )})}`
  const found = (id: number) => ifExists(note(id), `Let({note: Get(${note(id)})}, ${fields})`)

  test('documents and relations that a caller may not read are null', async () => {
    const own = { text: 'note 1', board: { title: 'first', owner: { name: 'Ann' } } }
    await compare('Ann', find(1), found(1), { is: own })
    await compare('Bob', find(1), found(1), { is: { ...own, board: { title: 'first', owner: null } } })
    await compare('Ann', find(2), found(2), { is: null })
    await compare('auditor', find(10), found(10), { is: { text: 'note 10', board: null } })
    await compare('stranger', find(1), found(1), { is: null })
  })

  test('an index without rights is an error, and an unrestricted index shows hidden documents as null', async () => {
    const all = '{ it: allNotes(_size: 5) { data { text } } }'
    const element = ifExists('Var("ref")', shown('Get(Var("ref"))'))
    const elements = `Map(Paginate(Match(Index("allNotes")), {size: 5}), Lambda("ref", ${element}))`
    const page = `Let({page: ${elements}}, {data: Select("data", Var("page"))})`
    await compare('stranger', all, page, denied)
    const data = [1, 2, 3, 4, 5].map(id => (id % 3 === 2 ? null : { text: `note ${id}` }))
    await compare('lister', all, page, { is: { data } })
  })

  test('a resolver needs the right to call its function, which may depend on the arguments', async () => {
    await compare('Ann', '{ it: noteCount }', 'Call(Function("noteCount"), [])', { is: 12 })
    await compare('auditor', '{ it: noteCount }', 'Call(Function("noteCount"), [])', denied)
    const paged = (size: number) =>
      `Select("data", Map(Call(Function("pagedNotes"), [${size}, null, null]), Lambda("note", ${shown('Var("note")')})))`
    await compare('Ann', '{ it: pagedNotes(_size: 11) { data { text } } }', paged(11), denied)
    await compare('auditor', '{ it: pagedNotes(_size: 2) { data { text } } }', paged(2), denied)
    const erase = (id: number) => `mutation { it: erase(id: "${id}") { text } }`
    const erased = (id: number) => shown(`Call(Function("erase"), ["${id}"])`)
    await compare('Ann', erase(8), erased(8), denied)
    await compare('auditor', erase(5), erased(5), denied)
    await compare('auditor', erase(8), erased(8), { is: { text: 'note 8' } })
    await compare('auditor', erase(8), erased(8), { fails: 'instance not found' })
  })
})

describe('writes', () => {
  test('a document is created if its fields are allowed, also if the caller may not read it', async () => {
    const data = (text: string, of: number, rest = '') => ({
      input: `{text: "${text}", board: {connect: "${of}"}${rest}}`,
      fields: `{text: "${text}", board: ${board(of)}${rest}}`,
    })
    const steps = [
      ['Ann', data('new', 1), { is: { text: 'new' } }],
      ['Ann', data('secret', 1, ', hidden: true'), { is: { text: 'secret' } }],
      ['Ann', data('new', 2), denied],
      ['Ann', data('new', 99), denied],
      ['auditor', data('audited', 2), { is: { text: 'audited' } }],
      ['auditor', data('forbidden', 2), denied],
      ['stranger', data('new', 1), denied],
    ] as const
    for (const [caller, { fields, input }, expected] of steps)
      await compare(caller, createNote(input), shown(create('Collection("Note")', fields)), expected)
  })

  for (const name of ['updateNote', 'partialUpdateNote'])
    test(`${name} writes only what a caller may write`, async () => {
      const steps = [
        ['Ann', 1, `text: "by Ann, ${name}"`, { is: { text: `by Ann, ${name}` } }],
        ['Ann', 10, 'text: "not mine"', denied],
        ['Ann', 2, 'text: "not visible"', { is: null }],
        ['Ann', 99, 'text: "missing"', { is: null }],
        ['auditor', 3, 'text: "note 3", hidden: false', { is: { text: 'note 3' } }],
        ['auditor', 3, 'text: "changed"', denied],
        ['stranger', 1, 'text: "stranger"', { is: null }],
      ] as const
      for (const [caller, id, data, expected] of steps)
        await compare(
          caller,
          `mutation { it: ${name}(id: ${id}, data: {${data}}) { text } }`,
          ifExists(note(id), shown(update(note(id), `{${data}}`))),
          expected,
        )
    })

  test('a note moves only between boards of the caller', async () => {
    const move = (id: number, to: string) =>
      `mutation { it: partialUpdateNote(id: ${id}, data: {board: {${to}}}) { text } }`
    const moved = (id: number, to: string) => ifExists(note(id), shown(update(note(id), `{board: ${to}}`)))
    await compare('Ann', move(4, 'connect: "1"'), moved(4, board(1)), { is: { text: 'note 4' } })
    await compare('Ann', move(4, 'connect: "2"'), moved(4, board(2)), denied)
    await compare('Ann', move(4, 'disconnect: true'), moved(4, 'null'), denied)
    await compare('auditor', move(4, 'disconnect: true'), moved(4, 'null'), { is: { text: 'note 4' } })
    await compare('auditor', move(4, 'connect: "1"'), moved(4, board(1)), { is: { text: 'note 4' } })
  })

  test('a document is deleted only by a caller who may delete it', async () => {
    const remove = (id: number) => `mutation { it: deleteNote(id: ${id}) { text } }`
    const removed = (id: number) => ifExists(note(id), shown(`Delete(${note(id)})`))
    await compare('Ann', remove(12), removed(12), denied)
    await compare('Ann', remove(11), removed(11), { is: null })
    await compare('auditor', remove(12), removed(12), denied)
    await compare('Bob', remove(12), removed(12), { is: { text: 'note 12' } })
    await compare('Bob', remove(12), removed(12), { is: null })
  })
})

/** `writes`: the further writes of the same transaction, after the write of the board. */
const updated = (id: number, ...writes: string[]) => {
  const bindings = writes.map((write, at) => `w${at}: ${write}`)
  return ifExists(
    board(id),
    `Let({${[`board: ${update(board(id), '{}')}`, ...bindings].join(', ')}}, ${titled('Var("board")')})`,
  )
}
const change = (id: number, data: string) =>
  `mutation { it: partialUpdateBoard(id: ${id}, data: {${data}}) { title } }`
const first = { is: { title: 'first' } }
const attach = (id: number, to: string) => update(note(id), `{board: ${to}}`)
const link = (own: number, tag: number) =>
  `Match(Index("board_tags_by_board_and_tag"), ${board(own)}, ${ref('Tag', tag)})`
const linked = (own: number, tag: number) =>
  `If(Exists(${link(own, tag)}), null, ${create('Collection("board_tags")', `{boardID: ${board(own)}, tagID: ${ref('Tag', tag)}}`)})`
const unlinked = (own: number, tag: number) =>
  ifExists(link(own, tag), `Delete(Select("ref", Get(${link(own, tag)})))`)
const newNote = (text: string, of: string) => create('Collection("Note")', `{text: "${text}", board: ${of}}`)

describe('writes of relations', () => {
  test('notes are connected, disconnected and created only with the rights for the notes', async () => {
    await compare('Ann', change(1, 'notes: {connect: ["1"]}'), updated(1, attach(1, board(1))), first)
    await compare(
      'Ann',
      change(1, 'notes: {connect: ["1", "10"]}'),
      updated(1, attach(1, board(1)), attach(10, board(1))),
      denied,
    )
    await compare('Ann', change(1, 'notes: {connect: ["99"]}'), updated(1, attach(99, board(1))), denied)
    await compare('Ann', change(1, 'notes: {disconnect: ["1"]}'), updated(1, attach(1, 'null')), denied)
    await compare('Bob', change(1, 'notes: {connect: ["10"]}'), updated(1, attach(10, board(1))), denied)
    await compare(
      'Ann',
      change(1, 'notes: {create: [{text: "nested"}]}'),
      updated(1, newNote('nested', board(1))),
      first,
    )
    await compare(
      'Bob',
      change(1, 'notes: {create: [{text: "nested"}]}'),
      updated(1, newNote('nested', board(1))),
      denied,
    )
    await compare('auditor', change(1, 'notes: {disconnect: ["1"]}'), updated(1, attach(1, 'null')), denied)
  })

  test('links are created and deleted only with the rights for the links', async () => {
    await compare(
      'Ann',
      change(1, 'tags: {connect: ["1", "3"]}'),
      updated(1, linked(1, 1), linked(1, 3)),
      first,
    )
    await compare('Ann', change(1, 'tags: {disconnect: ["3"]}'), updated(1, unlinked(1, 3)), first)
    await compare('Bob', change(1, 'tags: {disconnect: ["2"]}'), updated(1, unlinked(1, 2)), denied)
    await compare('auditor', change(1, 'tags: {disconnect: ["2"]}'), updated(1, unlinked(1, 2)), denied)
  })

  test('a nested create of a collection without the right to create discards the whole operation', async () => {
    const data = (tags: string) =>
      `{title: "third", owner: {connect: "1"}, notes: {create: [{text: "a"}]}, tags: ${tags}}`
    const operation = (tags: string) => `mutation { it: createBoard(data: ${data(tags)}) { title } }`
    const own = `board: ${create('Collection("Board")', `{title: "third", owner: ${ref('Person', 1)}}`)}, self: Select("ref", Var("board")), note: ${newNote('a', 'Var("self")')}`
    const linkTo = (tag: string) =>
      create('Collection("board_tags")', `{boardID: Var("self"), tagID: ${tag}}`)
    const tag = `Select("ref", ${create('Collection("Tag")', '{name: "new"}')})`
    const expression = (to: string) => `Let({${own}, link: ${linkTo(to)}}, ${titled('Var("board")')})`
    await compare('Ann', operation('{create: [{name: "new"}]}'), expression(tag), denied)
    await compare('Bob', operation('{connect: ["1"]}'), expression(ref('Tag', 1)), denied)
    await compare('Ann', operation('{connect: ["1"]}'), expression(ref('Tag', 1)), { is: { title: 'third' } })
  })

  test('a note with a new board needs the rights for both', async () => {
    const operation = (owner: number) =>
      createNote(`{text: "on a new board", board: {create: {title: "fourth", owner: {connect: "${owner}"}}}}`)
    const expression = (owner: number) =>
      `Let({board: Select("ref", ${create('Collection("Board")', `{title: "fourth", owner: ${ref('Person', owner)}}`)})}, ${shown(newNote('on a new board', 'Var("board")'))})`
    await compare('Ann', operation(2), expression(2), denied)
    await compare('auditor', operation(1), expression(1), denied)
    await compare('Ann', operation(1), expression(1), { is: { text: 'on a new board' } })
  })

  test('the only document of a relation is replaced only with the rights for both documents', async () => {
    const set = `Match(Index("board_cover_by_board"), ${board(1)})`
    const removed = `Foreach(Paginate(${set}), Lambda("cover", ${update('Var("cover")', '{board: null}')}))`
    const created = create('Collection("Cover")', `{colour: "blue", board: ${board(1)}}`)
    const blue = change(1, 'cover: {create: {colour: "blue"}}')
    await compare('Ann', blue, updated(1, created), { fails: 'instance not unique' })
    await compare('Bob', change(1, 'cover: {disconnect: true}'), updated(1, removed), denied)
    await compare('Ann', change(1, 'cover: {disconnect: true}'), updated(1, removed), first)
    await compare('Ann', blue, updated(1, created), first)
  })

  test('a deleted document shows the relations that the caller may still read', async () => {
    const operation = 'mutation { it: deleteBoard(id: 1) { title notes { data { text } } } }'
    const notes = `{data: Select("data", Map(Paginate(Match(Index("board_notes_by_board"), ${board(1)}), {size: 50}), Lambda("ref", ${shown('Get(Var("ref"))')})))}`
    const expression = ifExists(
      board(1),
      `Let({board: Delete(${board(1)})}, {title: ${dataOf('title', 'Var("board")')}, notes: ${notes}})`,
    )
    await compare('Bob', operation, expression, denied)
    const left = await byOperation('Ann', operation)
    assert.deepEqual(left, await byQuery('Ann', expression))
    assert.equal(left.error, undefined)
    assert.deepEqual(await contentOf(operations), await contentOf(queries))
  })
})
