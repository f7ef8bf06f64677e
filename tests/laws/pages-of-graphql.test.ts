// Law of GraphQL: the pages of a field, of any size and in both directions, together contain exactly the documents that
// the caller may read. A model that knows only arrays computes the documents.

import assert from 'node:assert/strict'
import { parseExpression } from '../../src/fql4/text/index.ts'
import { writeJson } from '../../src/values/write-json.ts'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

const sdl = `
type Shelf { name: String! books: [Book!] @relation topics: [Topic!] @relation }
type Topic { name: String! shelves: [Shelf!] @relation }
type Book { name: String! genre: String! shelf: Shelf }
type Query {
  allShelves: [Shelf!]
  allBooks: [Book!]
  booksByGenre(genre: String!): [Book!]
  someBooks(genre: String!): [Book!] @resolver(name: "some_books", paginated: true)
  genres: [String!] @resolver(paginated: true)
}`

const pageOf = (set: string) =>
  `If(Not(IsNull(Var("before"))), Paginate(${set}, { size: Var("size"), before: Var("before") }),
    If(IsNull(Var("after")), Paginate(${set}, { size: Var("size") }),
      Paginate(${set}, { size: Var("size"), after: Var("after") })))`

/** The role may read documents whose name begins with `v`. */
const readers = 'Query(Lambda("ref", StartsWith(Select(["data", "name"], Get(Var("ref"))), "v")))'
const privilege = (resource: string, actions: string) => `{ resource: ${resource}, actions: { ${actions} } }`
const privileges = [
  privilege('Collection("Book")', `read: ${readers}`),
  privilege('Collection("Topic")', `read: ${readers}`),
  ...['Shelf', 'shelf_topics'].map(name => privilege(`Collection("${name}")`, 'read: true')),
  ...[
    'allShelves',
    'allBooks',
    'booksByGenre',
    'genres_of_books',
    'book_shelf_by_shelf',
    'shelf_topics_by_shelf',
  ].map(name => privilege(`Index("${name}")`, 'read: true')),
  ...['some_books', 'genres'].map(name => privilege(`Function("${name}")`, 'call: true')),
]

const setup = [
  `Update(Function("some_books"), { body: Query(Lambda(["genre", "size", "after", "before"],
    Map(${pageOf('Match(Index("booksByGenre"), Var("genre"))')}, Lambda("ref", Get(Var("ref")))))) })`,
  `CreateIndex({ name: "genres_of_books", source: Collection("Book"), values: [{ field: ["data", "genre"] }] })`,
  `Update(Function("genres"), { body: Query(Lambda(["size", "after", "before"],
    ${pageOf('Match(Index("genres_of_books"))')})) })`,
  `CreateRole({ name: "reader", privileges: [${privileges.join(', ')}] })`,
]

/** A book, and a topic of the same name. */
interface Item {
  readonly name: string
  readonly genre: 'a' | 'b'
  readonly isDeleted: boolean
}

/** Items that the role may read have a name with `v`, other items a name with `h`. */
const items: fc.Arbitrary<readonly Item[]> = fc
  .array(
    fc.record({
      first: fc.constantFrom('v', 'h'),
      genre: fc.constantFrom('a', 'b'),
      isDeleted: fc.boolean(),
    }),
    { maxLength: 9 },
  )
  .map(all => all.map(({ first, genre, isDeleted }, at) => ({ name: `${first}${at}`, genre, isDeleted })))

const namesOf = (all: readonly Item[], genre?: Item['genre']) =>
  all.filter(item => !item.isDeleted && (genre ?? item.genre) === item.genre).map(({ name }) => name)

/** The fields with pages, and the elements of all their pages. `all`: the items that the caller may read. */
const fields: readonly {
  readonly field: string
  readonly elements: (all: readonly Item[], given: readonly Item[]) => readonly (string | null)[]
}[] = [
  { field: 'allBooks(PAGE) { data { name } after before }', elements: all => namesOf(all) },
  {
    field: 'booksByGenre(PAGE, genre: "a") { data { name shelf { name } } after before }',
    elements: all => namesOf(all, 'a'),
  },
  {
    field: 'someBooks(PAGE, genre: "b") { after data { shelf { name } name } before }',
    elements: all => namesOf(all, 'b'),
  },
  {
    field: 'genres(PAGE) { data after before }',
    elements: all => (['a', 'b'] as const).flatMap(genre => namesOf(all, genre).map(() => genre)),
  },
  {
    field: 'allShelves { data { inner: books(PAGE) { data { name } after before } } }',
    elements: all => namesOf(all),
  },
  {
    // A link to a document that is deleted, or that the caller may not read, is a null.
    field: 'allShelves { data { inner: topics(PAGE) { data { name } after before } } }',
    elements: (all, given) => given.map(item => (all.includes(item) && !item.isDeleted ? item.name : null)),
  },
]

interface PageOf {
  readonly data: readonly ({ readonly name: string; readonly inner?: PageOf } | string | null)[]
  readonly after: string | null
  readonly before: string | null
}

async function createItems(database: LawDatabase, given: readonly Item[]): Promise<void> {
  await database.importGraphql(sdl)
  for (const text of setup) await database.run4(JSON.parse(writeJson(parseExpression(text).json)))
  const books = given.map(({ genre, name }) => ({ name, genre }))
  const topics = given.map(({ name }) => ({ name }))
  const data = { name: 'shelf', books: { create: books }, topics: { create: topics } }
  await database.runGraphql('mutation($data: ShelfInput!) { createShelf(data: $data) { _id } }', { data })
  const stored = (await database.runGraphql(
    '{ allShelves { data { books { data { _id } } topics { data { _id } } } } }',
  )) as { allShelves: { data: [Record<'books' | 'topics', { data: readonly { _id: string }[] }>] } }
  const [shelf] = stored.allShelves.data
  for (const [at, { isDeleted }] of given.entries()) {
    if (!isDeleted) continue
    const ids = { book: shelf.books.data[at]?._id, topic: shelf.topics.data[at]?._id }
    const deletion =
      'mutation($book: ID!, $topic: ID!) { deleteBook(id: $book) { _id } deleteTopic(id: $topic) { _id } }'
    await database.runGraphql(deletion, ids)
  }
}

/** Reads all pages in one direction, from a cursor. Returns their elements and the last cursor in the other direction. */
async function pagesOf(read: (cursor: string | null) => Promise<PageOf>, size: number) {
  const pages: PageOf[] = []
  const elementsOf = ({ data }: PageOf) =>
    data.map(element => (typeof element === 'object' ? (element?.name ?? null) : element))
  let cursor: string | null = null
  do {
    const page: PageOf = await read(cursor)
    pages.push(page)
    cursor = page.after
    if (cursor !== null) assert.equal(page.data.length, size, 'each page but the last is full')
    assert.ok(pages.length < 20, 'the pages end')
  } while (cursor !== null)
  const forwards = pages.flatMap(elementsOf)
  const backwards = elementsOf(pages.at(-1) as PageOf)
  for (let before = pages.at(-1)?.before ?? null; before !== null; ) {
    const page = await read(before)
    backwards.unshift(...elementsOf(page))
    assert.ok(backwards.length <= forwards.length, 'the pages end')
    before = page.before
  }
  return { forwards, backwards }
}

law('all pages of a GraphQL field are the whole set, with and without a role', () => server, {
  input: fc.record({
    given: items,
    size: fc.integer({ min: 1, max: 4 }),
    isReader: fc.boolean(),
    choice: fc.constantFrom(...fields),
  }),
  runs: 60,
  async holds(database, { choice, given, isReader, size }) {
    await createItems(database, given)
    const caller = isReader ? '@role/reader' : 'admin'
    const text = choice.field.replace('PAGE', '_size: $size, _cursor: $cursor')
    const read = async (cursor: string | null): Promise<PageOf> => {
      const query = `query($cursor: String, $size: Int) { outer: ${text} }`
      const { outer } = (await database.runGraphql(query, { cursor, size }, caller)) as { outer: PageOf }
      const [first] = outer.data
      return (typeof first === 'object' ? first?.inner : undefined) ?? outer
    }
    const { backwards, forwards } = await pagesOf(read, size)
    const readable = given.filter(({ name }) => !isReader || name.startsWith('v'))
    assert.deepEqual(forwards, choice.elements(readable, given), 'forwards')
    assert.deepEqual(backwards, forwards, 'backwards')
  },
})
