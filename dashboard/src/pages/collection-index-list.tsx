// The indexes and unique constraints that the definitions of collections declare, as version 10 has them. They come with
// the collections: nothing else lists them.

import { IndexSize } from '../parts/index-size.tsx'
import { type Column, SchemaList } from '../parts/schema-list.tsx'
import { addressOf } from '../router.ts'
import {
  fieldsText,
  isUnderWay,
  nameOf,
  partsOf,
  pathOf,
  placeOf,
  stateText,
} from '../service/collection-indexes.ts'
import { at } from '../wire/json.ts'

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

const columns: readonly Column[] = [
  [
    'Name',
    part => (
      <a href={addressOf(pathOf(part))}>
        <bdi>{nameOf(part)}</bdi>
      </a>
    ),
  ],
  ['Kind', part => (at(part, 'unique') === undefined ? 'index' : 'unique constraint')],
  ['Found by', part => fieldsText(part, 'terms') || fieldsText(part, 'unique') || '–'],
  ['Sorted by', part => fieldsText(part, 'values') || 'id'],
  ['State', stateText],
  ['Size', part => <IndexSize part={placeOf(part)} name={nameOf(part)} />],
]
