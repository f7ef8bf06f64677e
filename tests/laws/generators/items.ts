// Documents of the collection `Item`, with a schema that both languages use. Few different values, so that documents
// often agree in a field.

import { fc } from '../../support/fast-check.ts'
import type { LawDatabase } from '../law.ts'

/** The data of a document. Absent fields are undefined. */
export interface Item {
  readonly n: number
  readonly g: string
  readonly tags: readonly string[]
  /** The id of another document, which may not exist. */
  readonly next: number
  readonly extra?: number | string | boolean | undefined
}

export const groups = ['x', 'y', 'z'] as const

/** Many laws read the group `x`. */
const group = fc.constantFrom('x', ...groups, 'x')

const tags = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })

const item: fc.Arbitrary<Item> = fc.record(
  {
    n: fc.integer({ min: 0, max: 5 }),
    g: group,
    tags,
    next: fc.integer({ min: 1, max: 12 }),
    extra: fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom('s', 'S', ''), fc.boolean()),
  },
  { requiredKeys: ['n', 'g', 'tags', 'next'] },
)

/** Some documents; the ids are 1, 2, 3 and so on. */
export const items: fc.Arbitrary<readonly Item[]> = fc.array(item, { maxLength: 11 })

/** A change of the documents. */
export type Change =
  | { readonly kind: 'create'; readonly data: Item }
  | { readonly kind: 'update'; readonly id: number; readonly data: Partial<Item> }
  | { readonly kind: 'replace'; readonly id: number; readonly data: Item }
  | { readonly kind: 'delete'; readonly id: number }

const id = fc.integer({ min: 1, max: 12 })
const differentTags = fc.subarray(['a', 'b', 'c'])
const update: fc.Arbitrary<Partial<Item>> = fc.record(
  { n: fc.integer({ min: 0, max: 5 }), g: group, tags: differentTags },
  { requiredKeys: [] },
)

export const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    item.map((data): Change => ({ kind: 'create', data })),
    {
      weight: 2,
      arbitrary: fc
        .tuple(id, fc.oneof(update, fc.record({ tags: differentTags })))
        .map(([id, data]): Change => ({ kind: 'update', id, data })),
    },
    fc.tuple(id, item).map(([id, data]): Change => ({ kind: 'replace', id, data })),
    id.map((id): Change => ({ kind: 'delete', id })),
  ),
  { maxLength: 6 },
)

/** The same changes, of the given documents and one that does not exist. */
export function aimedAt(given: readonly Item[], made: readonly Change[]): readonly Change[] {
  return made.map(each =>
    each.kind === 'create' ? each : { ...each, id: 1 + (each.id % (given.length + 1)) },
  )
}

/** The schema: indexes with one, two, and several values per document, and computed fields. */
const schema = `
  Collection.create({
    name: "Item",
    history_days: 30,
    wildcard: "Any",
    fields: { n: { signature: "Int" }, g: { signature: "String" } },
    computed_fields: {
      double: { body: "doc => doc.n * 2" },
      following: { body: "doc => Item.byId(doc.next)" }
    },
    indexes: {
      byGroup: { terms: [{ field: ".g" }] },
      byGroupSorted: { terms: [{ field: ".g" }], values: [{ field: ".n", order: "desc" }, { field: ".extra" }] },
      byGroupTags: { terms: [{ field: ".g" }], values: [{ field: ".tags", mva: true }] },
      byTag: { terms: [{ field: ".tags", mva: true }], values: [{ field: ".n" }] },
      sorted: { values: [{ field: ".n" }] }
    }
  })`

/** The bodies of the schema and of all documents. */
export async function createItems(database: LawDatabase, given: readonly Item[]): Promise<void> {
  await database.run10(schema)
  if (given.length === 0) return
  const documents = given.map((data, at) => ({ id: String(at + 1), ...data }))
  await database.run10('items.forEach(item => Item.create(item))', { items: documents })
}

/**
 * The whole state of the collection: the documents with their fields, and the entries of each index. The fields are
 * named, because the format of a set of documents contains only references.
 */
export const stateText = `{
  documents: ((Item.all()) { id, ts, n, g, tags, next, extra, double, following { id } }).toArray(),
  groups: ["x", "y", "z"].map(g => [
    Item.byGroup(g).map(.id).toArray(),
    Item.byGroupSorted(g).map(d => [d.id, d.n, d.extra]).toArray(),
    Item.byGroupTags(g).map(.id).toArray()
  ]),
  tags: ["a", "b", "c"].map(tag => Item.byTag(tag).map(.id).toArray()),
  sorted: Item.sorted().map(d => [d.id, d.n]).toArray()
}`

/** A statement of version 10 for a change. A change of a missing document does nothing. */
export function statementOf(change: Change): string {
  switch (change.kind) {
    case 'create':
      return `Item.create(${JSON.stringify(change.data)})`
    case 'delete':
      return `Item.byId("${change.id}")?.delete()`
    case 'update':
    case 'replace':
      return `Item.byId("${change.id}")?.${change.kind}(${JSON.stringify(change.data)})`
  }
}

/** An expression of version 4 for a change. A change of a missing document does nothing. */
export function expressionOf(change: Change): object {
  if (change.kind === 'create') {
    return { create: { collection: 'Item' }, params: { object: { data: { object: change.data } } } }
  }
  const ref = { ref: { collection: 'Item' }, id: String(change.id) }
  const write =
    change.kind === 'delete'
      ? { delete: ref }
      : { [change.kind]: ref, params: { object: { data: { object: change.data } } } }
  return { if: { exists: ref }, then: write, else: null }
}
