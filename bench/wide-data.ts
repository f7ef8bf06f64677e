// The kinds of large data of the case `wide`: indexes, entries, versions, arrays, documents.

import { processesOf } from './measure.ts'
import { untilIdle, untilQuiet } from './size-work.ts'
import { data, forEach, one, type WideKind, type WideRun } from './wide-run.ts'
import { StreamClient } from './wide-streams.ts'

const indexes: WideKind = {
  name: '200 indexes on a collection',
  async run(run) {
    const fields = Array.from({ length: 200 }, (_, n) => `f${n}: Add(${n}, Var("n"))`).join(', ')
    const create = (n: number) => `Let({n: ${n}}, Create(Collection("c"), ${data(fields)}))`
    await run.query('create without indexes', create)
    const add = (from: number, to: number) =>
      forEach(
        run,
        [from, to],
        50,
        'Let({name: Concat(["f", ToString(Var("n"))])}, CreateIndex({name: Var("name"), source: Collection("c"), terms: [{field: ["data", Var("name")]}]}))',
      )
    await add(0, 20)
    await run.query('create with 20 indexes', create)
    await add(20, 200)
    await run.query('create with 200 indexes', create)
    await run.text(`Let({n: 0}, Create(${one}, ${data(fields)}))`)
    await run.query('update of one indexed field', n => `Update(${one}, ${data(`f0: ${n}`)})`)
    await run.query('update of 200 indexed fields', n => `Let({n: ${n}}, Update(${one}, ${data(fields)}))`)
    await run.query('get', () => `Get(${one})`)
    await run.query('first of an index', n => `Get(Match(Index("f7"), ${7 + n}))`)
    await run.query(
      'create of another index',
      n => `CreateIndex({name: "more${n}", source: Collection("c"), terms: [{field: ["data", "x"]}]})`,
    )
    await run.query('delete of the document', () => `Delete(${one})`, { isOnce: true })
  },
}

const equalTerms: WideKind = {
  name: 'entries with equal terms',
  async run(run) {
    await run.text(
      'CreateIndex({name: "by_tag", source: Collection("c"), terms: [{field: ["data", "tag"]}]})',
    )
    const count = 2 * run.scale
    await run.background(`creates of ${count} documents`, count, () =>
      forEach(
        run,
        [1, count + 1],
        1000,
        `Create(Ref(Collection("c"), ToString(Var("n"))), ${data('tag: "same"')})`,
      ),
    )
    const set = 'Match(Index("by_tag"), "same")'
    const after = (id: number) => `after: [Ref(Collection("c"), "${id}")]`
    await run.query('first page of 64', () => `Paginate(${set})`)
    await run.query('page of 64 in the middle', n => `Paginate(${set}, {${after(run.scale + n)}})`)
    await run.query('last page of 64', () => `Paginate(${set}, {before: null})`)
    await run.query('page of 100 000', () => `Paginate(${set}, {size: 100000})`)
    await run.query('first element', () => `Get(${set})`)
    await run.query('first page of 64 events', () => `Paginate(Events(${set}))`)
    await run.query('count', () => `Count(${set})`)
    await run.fql('count in version 10', () => 'c.all().count()')
    await run.query('create', () => `Create(Collection("c"), ${data('tag: "same"')})`)
    await run.query(
      'update of the term',
      n => `Update(Ref(Collection("c"), "${n + 1}"), ${data(`tag: ${n}`)})`,
    )
    await run.query(
      'create of a unique index over the equal terms',
      () =>
        'CreateIndex({name: "unique", source: Collection("c"), terms: [{field: ["data", "tag"]}], unique: true})',
      { isOnce: true },
    )
    await run.background('build of the index', count, () => untilIdle(run.server))
    await run.query(
      'create that violates the unique index',
      () => `Create(Collection("c"), ${data('tag: "same"')})`,
    )
    await run.query('delete of the index', () => 'Delete(Index("by_tag"))', { isOnce: true })
    await run.background('removal of the index', count, () => untilIdle(run.server))
    run.memory('after the requests')
  },
}

const expired: WideKind = {
  name: 'expired documents with equal terms',
  async run(run) {
    const count = run.scale
    const fields = '{data: {name: "lock"}, ttl: Time("2020-01-01T00:00:00Z")}'
    const page = 'Paginate(Documents(Collection("c")))'
    await run.query('page without documents', () => page)
    await run.background(`creates of ${count} documents`, count, () =>
      forEach(run, [0, count], 1000, `Create(Collection("c"), ${fields})`),
    )
    await run.text(
      'CreateIndex({name: "by_name", source: Collection("c"), terms: [{field: ["data", "name"]}], unique: true})',
    )
    await run.background('build of the index', count, () => untilIdle(run.server))
    await run.query('page of documents, all expired', () => page)
    await run.query('page of an index, all expired', () => 'Paginate(Match(Index("by_name"), "lock"))')
    await run.query('create in a unique index', () => `Create(Collection("c"), ${fields})`)
  },
}

const versions: WideKind = {
  name: 'versions of a document',
  async run(run) {
    const { scale } = run
    // Without a long history, the service would remove the inserted versions at once.
    await run.text('CreateCollection({name: "h", history_days: 36500})')
    const document = 'Ref(Collection("h"), "1")'
    await run.text(`Create(${document}, ${data('n: 0')})`)
    const at = (n: number | string) => `TimeAdd(Time("2020-01-01T00:00:00Z"), ${n}, "seconds")`
    await run.background(`inserts of ${scale} versions`, scale, () =>
      forEach(
        run,
        [1, scale + 1],
        1000,
        `Insert(${document}, ${at('Var("n")')}, "update", ${data('n: Var("n")')})`,
      ),
    )
    const middle = Math.floor(scale / 2)
    await run.query('get', () => `Get(${document})`)
    await run.query('get at an old time', n => `At(${at(middle + n)}, Get(${document}))`)
    await run.query('update', n => `Update(${document}, ${data(`n: ${n}`)})`)
    await run.query(
      'insert between two versions',
      n => `Insert(${document}, TimeAdd(${at(middle + n)}, 1, "millisecond"), "update", ${data('n: -1')})`,
    )
    await run.query('first page of 64 events', () => `Paginate(Events(${document}))`)
    await run.query(
      'page of 64 events in the middle',
      () =>
        `Paginate(Events(${document}), {after: {ts: ToMicros(${at(middle)}), action: "update", document: ${document}}})`,
    )
    await run.query('last page of 64 events', () => `Paginate(Events(${document}), {before: null})`)
    await run.query('page of 100 000 events', () => `Paginate(Events(${document}), {size: 100000})`)
    await run.query('events of the collection', () => 'Paginate(Events(Documents(Collection("h"))))')
    await run.query(
      'create of an index',
      () => 'CreateIndex({name: "by_n", source: Collection("h"), terms: [{field: ["data", "n"]}]})',
      { isOnce: true },
    )
    await run.background('build of the index', scale, () => untilIdle(run.server))
    await run.query('update with the index', n => `Update(${document}, ${data(`n: ${n}`)})`)
    await run.query(
      'insert between two versions with the index',
      n => `Insert(${document}, TimeAdd(${at(middle + n)}, 2, "milliseconds"), "update", ${data('n: -2')})`,
    )
    await run.query('shortening of the history', () => 'Update(Collection("h"), {history_days: 0})', {
      isOnce: true,
    })
    await run.background('removal of the expired versions', scale, () =>
      untilQuiet(() => processesOf(run.server.pid)),
    )
    await run.query('get after the removal', () => `Get(${document})`)
    run.memory('after the requests')
  },
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n)
}

const arrays: WideKind = {
  name: 'arrays of 100 000 elements',
  async run(run) {
    const create = (count: number, place = 'Collection("c")') =>
      `Select("ts", Create(${place}, ${data(`a: [${numbers(count).join(',')}]`)}))`
    await run.text(create(100_000, one))
    await run.query('create', () => create(100_000))
    await run.query('create with 100 001 elements', () => create(100_001))
    const inserted = (count: number) => ({ arguments: { a: numbers(count) } })
    await run.fql('create in version 10', () => 'c.create({ a: a }).ts', inserted(100_000))
    await run.fql(
      'create of 200 000 elements in version 10',
      () => 'c.create({ a: a }).ts',
      inserted(200_000),
    )
    await run.query('get', () => `Get(${one})`)
    await run.query('one element', () => `Select(["data", "a", 99999], Get(${one}))`)
    await run.fql('one element in version 10', () => 'c.byId("1")!.a[99999]')
    await run.query('update of another field', n => `Select("ts", Update(${one}, ${data(`n: ${n}`)}))`)
    // The documents of 200 000 elements would stop the build of an index of their collection.
    const indexed = 'Ref(Collection("d"), "1")'
    await run.text('CreateCollection({name: "d"})')
    await run.text(create(100_000, indexed))
    await run.text('CreateIndex({name: "by_a", source: Collection("d"), terms: [{field: ["data", "a"]}]})')
    await run.background('build of an index over the elements', 100_000, () => untilIdle(run.server))
    await run.query('create with the index', () => create(100_000, 'Collection("d")'))
    await run.fql(
      'create of 200 000 elements with the index',
      () => 'd.create({ a: a }).ts',
      inserted(200_000),
    )
    await run.query(
      'update of another field with the index',
      n => `Select("ts", Update(${indexed}, ${data(`n: ${n}`)}))`,
    )
    const client = new StreamClient(run)
    await client.open(1, () => ({ match: { index: 'by_a' }, terms: -1 }))
    await run.query(
      'the same update beside a stream of the index',
      n => `Select("ts", Update(${indexed}, ${data(`n: ${n}`)}))`,
    )
    client.close()
    await run.query('documents with an element', () => 'Paginate(Match(Index("by_a"), 5))')
    await run.query('delete with the index', () => `Select("ts", Delete(${indexed}))`, { isOnce: true })
    await run.query('delete of the collection', () => 'Delete(Collection("d"))', { isOnce: true })
    await run.background('removal of the collection', 100_000, () => untilIdle(run.server))
    run.memory('after the requests')
  },
}

/** Fields of a document of about 5 MB. */
const bodies = [
  ['one text', () => `a: "${'x'.repeat(5_000_000)}"`],
  [
    '50 000 texts',
    () =>
      numbers(50_000)
        .map(n => `t${n}: "${'y'.repeat(90)}"`)
        .join(','),
  ],
  [
    '50 objects of 1 000 texts',
    () => {
      const object = numbers(1000)
        .map(n => `f${n}: "${'z'.repeat(90)}"`)
        .join(',')
      return numbers(50)
        .map(n => `o${n}: {${object}}`)
        .join(',')
    },
  ],
] as const

const documents: WideKind = {
  name: 'a document of 5 MB',
  async run(run) {
    for (const [at, [what, fieldsOf]] of bodies.entries()) {
      const ref = `Ref(Collection("c"), "${at + 10}")`
      const fields = fieldsOf()
      await run.text(`Select("ts", Create(${ref}, ${data(fields)}))`)
      await run.query(`create, ${what}`, () => `Select("ts", Create(Collection("c"), ${data(fields)}))`)
      await run.query(`get, ${what}`, () => `Get(${ref})`)
      await run.query(`one field, ${what}`, () => `Select(["data", "n"], Get(${ref}), 0)`)
      await run.query(`update of one field, ${what}`, n => `Select("ts", Update(${ref}, ${data(`n: ${n}`)}))`)
      const client = new StreamClient(run)
      await client.open(1, () => ({ ref: { collection: 'c' }, id: String(at + 10) }))
      await run.query(
        `the same update beside a stream, ${what}`,
        n => `Select("ts", Update(${ref}, ${data(`n: ${n}`)}))`,
      )
      client.close()
      await run.fql(`get in version 10, ${what}`, () => `c.byId("${at + 10}")`)
    }
    await limitsOfDocuments(run)
    run.memory('after the requests')
  },
}

async function limitsOfDocuments(run: WideRun): Promise<void> {
  const long = (name: string, count: number) => `${name}: "${'x'.repeat(count)}"`
  await run.query(
    'request of 8.5 MB',
    () => `Select("ts", Create(Collection("c"), ${data(long('a', 8_500_000))}))`,
  )
  await run.query(
    'document of 8.5 MB',
    () => `Select("ts", Create(Collection("c"), ${data(`${long('a', 8_300_000)}, b: Repeat("x", 200000)`)}))`,
  )
}

export const dataKinds: readonly WideKind[] = [indexes, equalTerms, expired, versions, arrays, documents]
