// Indexes and unique constraints that the definitions of collections declare in version 10. No query lists these
// indexes, so this list reads the definitions of the collections.

import { IndexSize } from '../parts/index-size.tsx'
import { NameLink } from '../parts/link.tsx'
import { type Column, SchemaList } from '../parts/schema-list.tsx'
import { addressOf } from '../router.ts'
import {
  fieldsText,
  indexPartOf,
  isUnderWay,
  nameOf,
  partsOf,
  pathOf,
  stateText,
} from '../service/collection-indexes.ts'
import { at } from '../wire/json.ts'

/** Each page of the list contains the indexes and constraints of one page of collections. */
export function CollectionIndexList() {
  return (
    <section aria-labelledby="of-collections">
      <h2 id="of-collections">Indexes and unique constraints of version 10</h2>
      <p class="hint">
        Collections declare these indexes. To change an index, edit the definition of its collection in{' '}
        <a href={addressOf(['schema-files'])}>Schema files</a>.
      </p>
      <SchemaList
        native="collections"
        label="Indexes and unique constraints of collections"
        columns={columns}
        partsOf={partsOf}
        rereadsWhile={collection => partsOf(collection).some(isUnderWay)}
        whenEmpty="No collection declares an index or a unique constraint. Add one to a collection in Schema files, for example: index byEmail { terms [.email] }, or unique [.email]."
      />
    </section>
  )
}

const columns: readonly Column[] = [
  ['Name', part => <NameLink href={addressOf(pathOf(part))} name={nameOf(part)} />],
  ['Kind', part => (at(part, 'unique') === undefined ? 'index' : 'unique constraint')],
  ['Terms', part => fieldsText(part, 'terms') || fieldsText(part, 'unique') || '–'],
  ['Sort order', part => fieldsText(part, 'values') || 'id'],
  ['State', stateText],
  ['Size', part => <IndexSize part={indexPartOf(part)} name={nameOf(part)} />],
]
