// The indexes and unique constraints that the definitions of collections declare, as version 10 has them. They come with
// the collections: nothing else lists them.

import { type IndexPart, IndexSize } from '../parts/index-size.tsx'
import { type Column, SchemaList } from '../parts/schema-list.tsx'
import { addressOf } from '../router.ts'
import { at, isMap, type Json, listAt, textAt } from '../wire/json.ts'

/** The list, a page of collections at a time. */
export function CollectionIndexList() {
  return (
    <section aria-labelledby="of-collections">
      <h2 id="of-collections">Indexes and unique constraints of version 10</h2>
      <p class="hint">
        Collections declare them. Change them with the collection: in its settings, or in{' '}
        <a href={addressOf(['schema-files'])}>Schema files</a>.
      </p>
      <SchemaList
        native="collections"
        label="Indexes and unique constraints of collections"
        columns={columns}
        partsOf={partsOf}
        rereadsWhile={collection => partsOf(collection).some(isUnderWay)}
        whenEmpty="No collection declares an index or a unique constraint. Add one to a collection in Schema files. Example: index byEmail { terms [.email] }, or unique [.email]."
      />
    </section>
  )
}

/** A row for each index and each unique constraint: its definition with `collection`, and `name` for an index. */
function partsOf(collection: Json): readonly Json[] {
  const own: readonly [string, Json][] = [['collection', at(collection, 'name') ?? null]]
  const indexes = at(collection, 'indexes')
  const named = isMap(indexes)
    ? Array.from(
        indexes,
        ([name, index]) => new Map([...own, ['name', name], ...(isMap(index) ? index : [])]),
      )
    : []
  const constraints = listAt(collection, 'constraints').filter(isMap)
  const unique = constraints
    .filter(each => each.has('unique'))
    .map((each, place) => new Map<string, Json>([...own, ...each, ['place', place]]))
  return [...named, ...unique]
}

const isUnderWay = (part: Json) => ['building', 'pending'].includes(textAt(part, 'status') ?? '')

const columns: readonly Column[] = [
  [
    'Name',
    part => (
      <a href={addressOf(['collections', textAt(part, 'collection') ?? '', 'settings'])}>{nameOf(part)}</a>
    ),
  ],
  ['Kind', part => (at(part, 'unique') === undefined ? 'index' : 'unique constraint')],
  ['Found by', part => fieldsText(part, 'terms') || fieldsText(part, 'unique') || '–'],
  ['Sorted by', part => fieldsText(part, 'values') || 'id'],
  ['State', stateText],
  ['Size', part => <IndexSize part={placeOf(part)} name={nameOf(part)} />],
]

function nameOf(part: Json): string {
  const name = textAt(part, 'name')
  const collection = textAt(part, 'collection')
  return name === undefined ? `${collection}: unique ${fieldsText(part, 'unique')}` : `${collection}.${name}`
}

function placeOf(part: Json): IndexPart {
  const collection = textAt(part, 'collection') ?? ''
  const index = textAt(part, 'name')
  return index === undefined ? { collection, unique: Number(at(part, 'place')) } : { collection, index }
}

/** Fields with their order, such as `.price desc`; a field without a leading point gets one. */
function fieldsText(part: Json, list: 'terms' | 'values' | 'unique'): string {
  const each = listAt(part, list).map(item => {
    const field = typeof item === 'string' ? item : (textAt(item, 'field') ?? '')
    const notes = [
      ...(at(item, 'order') === 'desc' ? ['desc'] : []),
      ...(at(item, 'mva') === true ? ['each element'] : []),
    ]
    return [/^[.[]/.test(field) ? field : `.${field}`, ...notes].join(' ')
  })
  return each.join(', ')
}

function stateText(part: Json): string {
  const status = textAt(part, 'status')
  if (status === 'failed')
    return 'failed: a document does not fit; change the document, and the build continues'
  if (status === 'building') return 'being built; queries that use it fail'
  if (status === 'pending') return 'being built; new writes are checked already'
  return at(part, 'queryable') === false ? 'ready; switched off for queries' : 'ready'
}
