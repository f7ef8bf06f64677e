// A small database with everything that is stored in a form of its own: documents of both languages with all types of
// values, history, indexes, roles, keys, schema files, migrations, a staged schema, events, deleted objects.

import { fql, query, runText } from '../support/http.ts'
import { pushFiles, requestSchema } from '../support/schema-files.ts'
import type { RunningServer } from '../support/server.ts'

const types = `{
  text: "é\\u0000𝄞", int: 1, long: 9007199254740993, double: 1.5, time: Time("2024-02-29T12:00:00.123456789Z"),
  date: Date("2024-02-29"), bytes: Bytes("AQID"), uuid: null, list: [1, [2, {}]], ref: Item.byId("1")
}`

const schema1 = {
  'main.fsl': `collection Item {
  name: String
  count: Int = 0
  compute double: Int = (item => item.count * 2)
  unique [.name]
  index byCount {
    terms [.count]
    values [desc(.name)]
  }
  history_days 1000000
}
collection Values {
  *: Any
  history_days 1000000
}
function twice(n) { n * 2 }
role reader {
  privileges Item {
    read
  }
}
access provider p {
  issuer "https://one.example"
  jwks_uri "https://one.example/keys"
  role reader
}
`,
}
const schema2 = {
  'main.fsl': `${schema1['main.fsl'].replace('  compute', '  extra: String = "new"\n  migrations {\n    add .extra\n    backfill .extra = "old"\n  }\n  compute')}`,
}
const schema3 = { 'main.fsl': `${schema2['main.fsl']}collection Later { }\n` }

/** A secret for a database of {@link writeContent}. A push of schema files would delete the objects of version 4. */
const adminOf = ({ rootSecret }: RunningServer, database: 'app' | 'old') => `${rootSecret}:${database}:admin`

/** Fills a new data directory. */
export async function writeContent(server: RunningServer): Promise<void> {
  for (const name of ['app', 'old'])
    await query(server, server.rootSecret, { create_database: { object: { name } } })
  const [admin, admin4] = [adminOf(server, 'app'), adminOf(server, 'old')]
  const v4 = (text: string) => runText(server, admin4, text)
  const v10 = (text: string) => fql(server, admin, text)
  await v4('CreateCollection({ name: "things", history_days: 1000000 })')
  await v4(
    'CreateIndex({ name: "by_tag", source: Collection("things"), terms: [{ field: ["data", "tags"] }] })',
  )
  await v4(
    'CreateIndex({ name: "names", source: Collection("things"), unique: true, values: [{ field: ["data", "name"], reverse: true }, { field: "ref" }] })',
  )
  await v4(
    'Create(Ref(Collection("things"), "1"), { data: { name: "a", tags: ["x", "y"], d: Date("2024-02-29") } })',
  )
  await v4(
    'Create(Ref(Collection("things"), "2"), { data: { name: "b", tags: ["y"] }, credentials: { password: "secret" } })',
  )
  await v4('Update(Ref(Collection("things"), "1"), { data: { tags: ["z"], name: "c" } })')
  await v4('Create(Ref(Collection("things"), "3"), { data: { name: "gone", tags: ["x"] } })')
  await v4('Delete(Ref(Collection("things"), "3"))')
  await v4('CreateFunction({ name: "old", body: Query(Lambda("n", Add(Var("n"), 1))) })')
  await v4(
    'CreateRole({ name: "tagged", privileges: [{ resource: Collection("things"), actions: { read: Query(Lambda("r", ContainsValue("y", Select(["data", "tags"], Get(Var("r")))))) } }] })',
  )
  await v4('Create(Tokens(), { instance: Ref(Collection("things"), "2") })')
  await pushFiles(server, admin, schema1)
  for (let n = 1; n <= 40; n++) await v10(`Item.create({ id: "${n}", name: "item ${n}", count: ${n % 3} })`)
  await v10(`Values.create({ id: "1", all: ${types} })`)
  await v10('Item.byId("2")!.update({ count: 9 })')
  await v10('Item.byId("3")!.delete()')
  await pushFiles(server, admin, schema2)
  await v10('Collection.create({ name: "Dropped" })')
  await v10('Dropped.create({ n: 1 })')
  await v10('Collection.byName("Dropped")!.delete()')
  await v10('Item.create({ id: "41", name: "last", extra: "x" })')
  await pushFiles(server, admin, schema3, 'force=true&staged=true')
}

/**
 * What a later version must read as the version that wrote the data: queries of version 4 as text, and of version 10.
 * Staged definitions have the time of the query, so definitions are read without times.
 */
const reads: Readonly<Record<string, { readonly v4: string } | { readonly v10: string }>> = {
  things: { v4: 'Map(Paginate(Documents(Collection("things"))), Lambda("r", Get(Var("r"))))' },
  history: { v4: 'Paginate(Ref(Collection("things"), "1"), { events: true })' },
  'deleted history': { v4: 'Paginate(Ref(Collection("things"), "3"), { events: true })' },
  names: { v4: 'Paginate(Match("names"))' },
  tags: { v4: 'Map(["x", "y", "z"], Lambda("t", Paginate(Match("by_tag", Var("t")))))' },
  'events of a set': { v4: 'Paginate(Match("by_tag", "x"), { events: true })' },
  call: { v4: 'Call("old", 1)' },
  login: { v4: 'Identify(Ref(Collection("things"), "2"), "secret")' },
  roles: { v4: 'Map(Paginate(Roles()), Lambda("r", Get(Var("r"))))' },
  indexes: { v4: 'Map(Paginate(Indexes()), Lambda("r", Get(Var("r"))))' },
  items: { v10: 'Item.all().pageSize(100) { id, ts, name, count, extra, double }' },
  'items by count': { v10: 'Item.byCount(1) { id, name }' },
  'item in the past': { v10: 'at (Item.byId("1")!.ts) { Item.all().count() }' },
  values: { v10: 'Values.all()' },
  functions: { v10: '[twice(4), "".concat("a")]' },
  definitions: {
    v10: `[Collection.all(), Role.all(), Function.all(), AccessProvider.all()]
      .flatMap(all => all.toArray()).map(d => Object.entries(Object.assign(Object.assign({}, d), { ts: null })))`,
  },
}

/** The answers to all reads, by their names. */
export async function readContent(server: RunningServer): Promise<Readonly<Record<string, unknown>>> {
  const [admin, admin4] = [adminOf(server, 'app'), adminOf(server, 'old')]
  const answers: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(reads))
    answers[name] = 'v4' in read ? await runText(server, admin4, read.v4) : await fql(server, admin, read.v10)
  const { json } = await requestSchema(server, admin, 'status?diff=textual')
  const { status, diff } = json as { readonly status: string; readonly diff: string }
  return { ...answers, staged: { status, diff } }
}
