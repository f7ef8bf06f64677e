// Migrates a team from the hosted service: an export and schema files are imported with the command line program and
// served to the unmodified driver. Then the database is exported, and imported again as an identical database.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client, fql, ServiceError } from 'fauna'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { patience } from '../support/patience.ts'
import { startServer } from '../support/server.ts'

const folder = folderOfFile()

const schema = {
  'access.fsl': `role clerk {
  privileges Order {
    create
    read {
      predicate (order => order.total > 0)
    }
  }
  privileges greet {
    call
  }
}

access provider acme {
  issuer "https://acme.example"
  jwks_uri "https://acme.example/jwks"
  role clerk
}
`,
  'collections.fsl': `// Who buys.
collection Buyer {
  name: String
  since: Date
  level: Int = 1
  compute loud: String = (buyer => buyer.name.toUpperCase())
  unique [.name]
  index byName {
    terms [.name]
  }
  check named (buyer => buyer.name != "")
}

collection Order {
  buyer: Ref<Buyer>
  total: Int
}
`,
  'functions.fsl': `function greet(name) {
  "hi " + name
}
`,
}

const data = {
  Buyer: `{"id":"1","coll":"Buyer","ts":"2025-03-22T10:58:58.290Z","name":"Ada","since":"2021-05-30","level":3}
{"id":"2","coll":"Buyer","ts":"2025-03-22T10:58:59.290Z","name":"Bob","since":"2022-05-30"}
`,
  Order: `{"id":"7","coll":"Order","ts":"2025-03-22T11:00:00Z","buyer":{"id":"1","coll":"Buyer"},"total":12}
`,
}

async function writeExport(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(data)) {
    const path = join(folder, 'data/collections', name)
    await mkdir(path, { recursive: true })
    await writeFile(join(path, `${name}_00_000000.jsonl`), text)
  }
  const metadata = {
    ...{ host_id: '6a2f', account_id: '42', export_id: '41', task_id: '43' },
    ...{ collections: Object.keys(data), snapshot_ts: '2025-05-12T08:00:00Z', doc_format: 'simple' },
    ...{ datafile_format: 'jsonl', datafile_compression: false, datafile_ext: 'jsonl' },
    ...{ part: 0, total_parts: 1, files_count: 2 },
  }
  await writeFile(join(folder, 'metadata_00.json'), JSON.stringify(metadata))
}

/**
 * The texts of all files below a folder, by path. The metadata, which contains the time and the creator, is left out.
 */
async function textsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(each => each.isFile()).map(each => join(each.parentPath, each.name))
  const told = paths.filter(path => !path.endsWith('metadata_00.json')).sort()
  const texts = await Promise.all(
    told.map(async path => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const),
  )
  return Object.fromEntries(texts)
}

test('an export and schema files are imported, served to the driver, and exported again', {
  timeout: patience(120_000),
}, async () => {
  await using server = await startServer()
  const at = (...steps: readonly string[]) => join(folder, ...steps)
  const run = async (...words: readonly string[]) => {
    const all = [words[0] as string, '--url', server.url, ...words.slice(1)]
    return runCommand(all, { TERRARIUM_SECRET: server.rootSecret })
  }
  const bringIn = (database: string, ...words: readonly string[]) =>
    run('import', '--state', at('state'), '--database', database, ...words)
  const client = (database: string) =>
    new Client({ endpoint: new URL(server.url), secret: `${server.rootSecret}:${database}:admin` })
  await writeExport(at('export'))
  await mkdir(at('schema'))
  for (const [name, text] of Object.entries(schema)) await writeFile(at('schema', name), text)

  const dry = await bringIn('shop', '--dry-run', at('schema'), at('export'))
  assert.equal(dry.status, 0, dry.stderr)
  const real = await bringIn('shop', at('schema'), at('export'))
  assert.equal(real.status, 0, real.stderr)
  assert.match(real.stdout, /all\s+3\s+3\s+0\s+0/)
  const shop = client('shop')
  const found = await shop.query(fql`
    let order = Order.all().first()!
    [order.id, order.buyer!.loud, order.buyer!.since.year, Buyer.byName("Bob").first()!.level, greet("x")]`)
  assert.deepEqual(found.data, ['7', 'ADA', 2021, 1, 'hi x'])
  const rejected = [
    fql`Buyer.create({ name: "Ada", since: Date.today() })`,
    fql`Buyer.create({ name: "", since: Date.today() })`,
    fql`Order.create({ total: 1 })`,
  ]
  for (const query of rejected) await assert.rejects(shop.query(query), ServiceError)
  const defined = await shop.query(fql`[Role.byName("clerk")!.name, AccessProvider.byName("acme")!.issuer]`)
  assert.deepEqual(defined.data, ['clerk', 'https://acme.example'])
  shop.close()

  assert.equal((await run('export', '--database', 'shop', at('out'))).status, 0)
  const exported = await textsIn(at('out'))
  for (const [name, text] of Object.entries(schema)) assert.equal(exported[`schema/${name}`], text)
  const back = await bringIn('copy', at('out'))
  assert.equal(back.status, 0, back.stderr)
  assert.equal((await run('export', '--database', 'copy', at('again'))).status, 0)
  assert.deepEqual(await textsIn(at('again')), exported)
  const repeated = await bringIn('copy', at('out'))
  assert.match(repeated.stdout, /all\s+3\s+0\s+3\s+0/)

  await writeFile(at('schema', 'functions.fsl'), 'function greet(name) {\n  "hi " +\n}\n')
  const broken = await bringIn('other', at('schema'))
  assert.equal(broken.status, 1)
  assert.match(broken.stderr, /functions\.fsl:1:15/)
})
