// `terrarium schema pull`, `push` and `check` with schema files of version 10.

import assert from 'node:assert/strict'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { pushFiles } from '../support/schema-files.ts'
import { serverOfFile } from '../support/server.ts'
import { contents, schemaCommands } from './schema-commands.ts'

const server = serverOfFile()
const folder = folderOfFile()
const { databaseWith, evaluate, outputOf, push, pushed, pulled, run } = schemaCommands(server, folder)

test('a folder of .fsl files is pushed and pulled unchanged', async () => {
  const main = '// head\ncollection Shelf {}\n'
  const place = await databaseWith('fsl', { 'main.fsl': main, 'deep/f.fsl': 'function one() { 1 }' })
  assert.match(await pushed('fsl', '--dry-run'), /^\* Adding collection `Shelf` to main\.fsl:1:1/)
  assert.match(await pushed('fsl', '--yes'), /made the changes\n$/)
  assert.equal(await pushed('fsl', '--yes'), 'unchanged\n')
  await writeFile(join(place, 'main.fsl'), 'collection {}')
  const broken = await push('fsl', '--yes')
  assert.notEqual(broken.status, 0)
  assert.match(broken.stderr, /Missing required name\n *at \S+\/fsl\/main\.fsl:1:1/)
  await pulled('fsl', '--yes')
  assert.deepEqual(await contents(place), { 'main.fsl': main, 'deep/f.fsl': 'function one() { 1 }' })
})

test('push shows type errors with their positions in the folder', async () => {
  const place = await databaseWith('typed', {
    'main.fsl': 'collection User {\n  name: String\n}\n',
    'of users/f.fsl': 'function nameOf(id: ID): String {\n  User.byId(id)!.nmae\n}\n',
  })
  await outputOf('eval', '--fql', '10', 'Database.byName("typed")!.update({ typechecked: true }).name')
  const { status, stderr } = await push('typed', '--yes')
  assert.equal(status, 1)
  const file = join(relative('.', place), 'of users/f.fsl')
  assert.match(stderr, /does not have field `nmae`\n/)
  assert.ok(stderr.includes(`\nat ${file}:2:18\n`), stderr)
})

test('check lists the type errors of a database that is not checked, and changes nothing', async () => {
  const main =
    'collection User {\n  name: String\n}\n\nfunction nameOf(id: ID): String {\n  User.byId(id).name\n}\n'
  const more = 'function twice(n: Int): Number {\n  n.size\n}\n'
  const place = await databaseWith('unchecked', { 'main.fsl': main, 'more.fsl': more })
  const unchecked = 'Database.byName("unchecked")!.update({ typechecked: false }).name'
  await outputOf('eval', '--fql', '10', unchecked)
  await pushed('unchecked', '--yes')
  const check = () => run('schema', 'check', '--database', 'unchecked')
  const found = await check()
  assert.deepEqual([found.status, found.stdout], [1, ''])
  assert.match(found.stderr, /Type `Null` does not have field `name`\nat main\.fsl:6:17\n/)
  assert.match(found.stderr, /Type `Int` does not have field `size`\nat more\.fsl:2:5\n/)
  assert.equal(await pushed('unchecked'), 'unchanged\n')

  await writeFile(join(place, 'main.fsl'), main.replace('byId(id).', 'byId(id)!.'))
  await writeFile(join(place, 'more.fsl'), more.replace('n.size', 'n * 2'))
  await pushed('unchecked', '--yes')
  const correct = await check()
  assert.deepEqual([correct.status, correct.stdout], [0, 'no errors\n'], correct.stderr)
})

/** The names of the collections and functions of a database, and the number of documents in its collection `P`. */
function schemaOf(database: string): Promise<string> {
  const names = (set: string) => `Map(Paginate(${set}()), Lambda('x', Select('id', Var('x'))))`
  return evaluate(
    database,
    `[${names('Collections')}, ${names('Functions')}, If(Exists(Collection("P")), Count(Documents(Collection("P"))), 0)]`,
  )
}

test('without --delete, a push keeps objects that are in no file, also objects of a replaced file', async () => {
  const place = await databaseWith('renamed', {
    'main.fsl': '// The first.\ncollection P {\n  a: Int\n}\n\nfunction one() { 1 }\n',
    'more.fsl': 'function two() { 2 }\n',
  })
  await pushed('renamed', '-y')
  await evaluate('renamed', 'Create(Collection("P"), { data: { a: 1 } })')
  await writeFile(join(place, 'main.fsl'), 'collection Q {\n  a: Int\n}\n')
  const renamed = await pushed('renamed', '-y')
  assert.match(renamed, /^\* Adding collection `Q` to main\.fsl:1:1/)
  assert.doesNotMatch(renamed, /Removing/)
  assert.match(renamed, /^\? collection P: in no file, kept\n\? function one: in no file, kept\n/m)
  assert.equal(await schemaOf('renamed'), '[{ data: ["P", "Q"] }, { data: ["one", "two"] }, 1]')
  assert.equal(
    await pushed('renamed', '-y'),
    'unchanged\n? collection P: in no file, kept\n? function one: in no file, kept\n',
  )

  await outputOf('schema', 'pull', join(folder, 'renamed-again'), '--database', 'renamed')
  assert.deepEqual(await contents(join(folder, 'renamed-again')), {
    'main.fsl': 'collection Q {\n  a: Int\n}\n',
    'more.fsl': 'function two() { 2 }\n',
    'kept.fsl': '// The first.\ncollection P {\n  a: Int\n}\n\nfunction one() { 1 }\n',
  })

  // An object can return to a file, and a file can be renamed.
  await writeFile(join(place, 'p.fsl'), 'collection P {\n  a: Int\n  index byA {\n    terms [.a]\n  }\n}\n')
  await rename(join(place, 'more.fsl'), join(place, 'other.fsl'))
  const returned = await pushed('renamed', '-y')
  assert.match(returned, /Modifying collection `P` at p\.fsl:1:1/)
  assert.match(returned, /^\? function one: in no file, kept\n/m)
  assert.equal(await schemaOf('renamed'), '[{ data: ["P", "Q"] }, { data: ["one", "two"] }, 1]')

  await rm(join(place, 'p.fsl'))
  assert.match(await pushed('renamed', '-y', '--delete'), /\* Removing collection `P` from p\.fsl/)
  assert.equal(await schemaOf('renamed'), '[{ data: ["Q"] }, { data: ["two"] }, 0]')
})

test('for an empty folder, pull chooses the version of the schema, unless --fql is given', async () => {
  await databaseWith('tens', { 'main.fsl': 'collection Shelf {\n  a: Int\n}\n' })
  await pushed('tens', '--yes')
  const filesOf = async (database: string, folderName: string, ...words: string[]) => {
    const into = join(folder, folderName)
    await outputOf('schema', 'pull', into, '--database', database, ...words)
    return Object.keys(await contents(into))
  }
  assert.deepEqual(await filesOf('tens', 'tens-new'), ['main.fsl'])
  assert.deepEqual(await filesOf('tens', 'tens-as-4', '--fql', '4'), ['collections/Shelf.fql'])
  await databaseWith('fours', {})
  await evaluate('fours', 'CreateCollection({ name: "Shelf", ttl_days: 3 })')
  assert.deepEqual(await filesOf('fours', 'fours-new'), ['collections/Shelf.fql'])
  assert.deepEqual(await filesOf('fours', 'fours-as-10', '--fql', '10'), ['main.fsl'])
})

test('a push reports that it adds to a staged schema', async () => {
  const place = await databaseWith('staging', { 'main.fsl': 'collection Shelf {}\n' })
  await pushed('staging', '--yes')
  const files = { 'main.fsl': 'collection Shelf {}\nfunction one() { 1 }\n' }
  await pushFiles(server, `${server.rootSecret}:staging:admin`, files, 'staged=true')
  await writeFile(join(place, 'main.fsl'), 'collection Shelf {}\nfunction one() { 2 }\n')
  assert.match(
    await pushed('staging', '--yes'),
    /^a schema is staged: the files are staged with it[^\n]*\n\* Modifying function `one` at main\.fsl:2:1:\n/,
  )
  assert.equal(await evaluate('staging', 'Exists(Function("one"))'), 'false')
})
