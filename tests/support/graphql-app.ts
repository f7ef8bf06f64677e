// An application whose GraphQL schema has every kind of definition, for tests that move, restart or change a database.

import assert from 'node:assert/strict'
import { dataOf, importSchema, runOperation } from './graphql.ts'
import { runText } from './http.ts'
import type { RunningServer } from './server.ts'

type Server = Pick<RunningServer, 'url'>

export const appSchema = `# The library.
enum Genre { NOVEL POEM }
type Author @collection(name: "authors") { name: String! @unique home: Address books: [Book!] @relation card: Card prizes: [Prize!] @relation }
type Address @embedded { city: String! neighbour: Author }
type Book { title: String! genre: Genre author: Author! }
type Card { number: Int! owner: Author! }
type Prize { year: Int! authors: [Author!] @relation }
input Filter { genre: Genre! limit: Int = 1 }
type Found @embedded { genre: Genre book: Book }
type Query {
  allAuthors: [Author!]
  authorByName(name: String!): Author @index(name: "unique_Author_name")
  booksByGenre(genre: Genre!): [Book!]
  find(filter: Filter!): Found @resolver(name: "find_book")
  pages: [Book!] @resolver(paginated: true)
}
`

/** Imports the schema, implements its resolvers, and creates an author with a book, a card and a prize. */
export async function createApp(server: Server, secret: string): Promise<void> {
  await importSchema(server, secret, appSchema)
  await runText(
    server,
    secret,
    `Update(Function("find_book"), { body: Query(Lambda(["filter"], {
      genre: Select("genre", Var("filter")),
      book: Select(["data", 0], Paginate(Match(Index("booksByGenre"), Select("genre", Var("filter"))), { size: Select("limit", Var("filter")) }), null) })) })`,
  )
  await runText(
    server,
    secret,
    `Update(Function("pages"), { body: Query(Lambda(["size", "after", "before"],
      Map(Paginate(Documents(Collection("Book")), { size: Var("size") }), Lambda("ref", Get(Var("ref")))))) })`,
  )
  await addAuthor(server, secret, 'Ada')
}

async function addAuthor(server: Server, secret: string, name: string): Promise<void> {
  const data = {
    name,
    home: { city: 'Rome' },
    books: { create: [{ title: `${name}'s poems`, genre: 'POEM' }] },
    card: { create: { number: 7 } },
    prizes: { create: [{ year: 1999 }] },
  }
  await dataOf(server, secret, 'mutation($data: AuthorInput!) { createAuthor(data: $data) { _id } }', {
    data,
  })
}

const authorFields =
  'name home { city neighbour { name } } books { data { title genre author { name } } } card { number owner { name } } prizes { data { year authors { data { name } } } }'

function author(name: string) {
  return {
    name,
    home: { city: 'Rome', neighbour: null },
    books: { data: [{ title: `${name}'s poems`, genre: 'POEM', author: { name } }] },
    card: { number: 7, owner: { name } },
    prizes: { data: [{ year: 1999, authors: { data: [{ name }] } }] },
  }
}

let added = 0

/** Asserts that all data of the application exist, and that its operations still read and write. */
export async function assertApp(server: Server, secret: string): Promise<void> {
  const read = (query: string) => dataOf(server, secret, query)
  const ada = await read(
    `{ authorByName(name: "Ada") { ${authorFields} } find(filter: {genre: POEM}) { genre book { title } } pages(_size: 1) { data { title } } }`,
  )
  assert.deepEqual(ada, {
    authorByName: author('Ada'),
    find: { genre: 'POEM', book: { title: "Ada's poems" } },
    pages: { data: [{ title: "Ada's poems" }] },
  })
  const name = `Author ${process.pid} ${++added}`
  await addAuthor(server, secret, name)
  assert.deepEqual(await read(`{ authorByName(name: "${name}") { ${authorFields} } }`), {
    authorByName: author(name),
  })
  const second = await runOperation(
    server,
    secret,
    `mutation { createAuthor(data: {name: "${name}"}) { _id } }`,
  )
  assert.equal(second.errors?.[0]?.message, 'Instance is not unique.')
  assert.deepEqual(await read('{ __type(name: "Genre") { enumValues { name } } }'), {
    __type: { enumValues: [{ name: 'NOVEL' }, { name: 'POEM' }] },
  })
}
