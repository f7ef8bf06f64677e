// The page of an index or a unique constraint that a collection declares in version 10: its fields, its state, its
// size, and an example query.

import { Button } from '../parts/button.tsx'
import { Fact } from '../parts/fact.tsx'
import { Heading } from '../parts/heading.tsx'
import { IndexSize } from '../parts/index-size.tsx'
import { NameLink } from '../parts/link.tsx'
import { useEvery } from '../parts/live.ts'
import { LoadedContent, useLoad } from '../parts/load.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import {
  fieldsText,
  fslOf,
  indexPartOf,
  isUnderWay,
  nameOf,
  partsOf,
  pathOf,
  stateText,
  usageOf,
} from '../service/collection-indexes.ts'
import { readSchema } from '../service/schema.ts'
import { openTab } from '../service/shell-state.ts'
import { at, type Json } from '../wire/json.ts'

const buildingEveryMs = 1500

interface CollectionIndexProps {
  readonly collection: string
  readonly kind: 'indexes' | 'unique'
  /** Name of an index, or number of a constraint among the unique constraints, from 0. */
  readonly name: string
}

export function CollectionIndex({ collection, kind, name }: CollectionIndexProps) {
  const part = useLoad(
    async signal => {
      const parts = partsOf(await readSchema('collections', collection, signal))
      const wanted = ['collections', collection, kind, name].join('/')
      return parts.find(each => pathOf(each).join('/') === wanted) ?? null
    },
    [collection, kind, name, pastTime.value],
  )
  const title = part.data ? nameOf(part.data) : name
  useEvery(part.data && isUnderWay(part.data) ? buildingEveryMs : undefined, part.reload)
  return (
    <>
      <Heading trail={[['Indexes', addressOf(['indexes'])]]} title={title} />
      <LoadedContent of={part}>
        {found =>
          found === null ? (
            <p class="empty">
              The collection does not declare this index. The index was removed or renamed. See all{' '}
              <a href={addressOf(['indexes'])}>indexes</a>.
            </p>
          ) : (
            <Facts part={found} collection={collection} />
          )
        }
      </LoadedContent>
    </>
  )
}

function Facts({ part, collection }: { readonly part: Json; readonly collection: string }) {
  const isUnique = at(part, 'unique') !== undefined
  const usage = usageOf(part)
  return (
    <>
      <dl class="record-facts">
        <Fact name="Kind">{isUnique ? 'unique constraint' : 'index'}</Fact>
        <Fact name="Collection">
          <NameLink href={addressOf(['collections', collection])} name={collection} />
        </Fact>
        {isUnique ? (
          <Fact name="Unique">
            <code>{fieldsText(part, 'unique')}</code>
          </Fact>
        ) : (
          <>
            <Fact name="Terms">
              <code>{fieldsText(part, 'terms') || 'none: the index contains all documents'}</code>
            </Fact>
            <Fact name="Sort order">
              <code>{fieldsText(part, 'values') || 'id'}</code>
            </Fact>
          </>
        )}
        <Fact name="State">
          <span role="status">{stateText(part)}</span> {isUnderWay(part) && <progress aria-label="Build" />}
        </Fact>
        {pastTime.value === undefined && (
          <Fact name="Size">
            <IndexSize part={indexPartOf(part)} name={nameOf(part)} />
          </Fact>
        )}
      </dl>
      <section aria-labelledby="definition">
        <h2 id="definition">Definition</h2>
        <pre class="drawn wrapped">{fslOf(part)}</pre>
        <p class="hint">
          To change the definition, edit the collection in{' '}
          <a href={addressOf(['schema-files'])}>Schema files</a>.
        </p>
      </section>
      {usage !== undefined && (
        <section aria-labelledby="use">
          <h2 id="use">Use</h2>
          <pre class="drawn wrapped">{usage}</pre>
          <Button onClick={() => tryInShell(usage)}>Try in the shell</Button>
        </section>
      )}
    </>
  )
}

function tryInShell(text: string): void {
  openTab({ text, version: '10', notation: 'text' })
  go(addressOf(['shell']))
}
