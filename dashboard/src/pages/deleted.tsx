// Lists the deleted documents of a collection, searches their contents and restores documents.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { useAction, useLoad } from '../parts/load.tsx'
import { Notice, Problem } from '../parts/problem.tsx'
import { buttons, Table } from '../parts/table.tsx'
import { Instant } from '../parts/time.tsx'
import { previewOf } from '../parts/values.tsx'
import { addressOf, pastTime } from '../router.ts'
import { type DeletedDocument, listDeleted, restoreDocument } from '../service/deleted.ts'
import { rights } from '../session.ts'
import { type Json, writeJson } from '../wire/json.ts'
import { collectionTabs } from './rows.tsx'

export function DeletedDocuments({ collection }: { readonly collection: string }) {
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={collection} />
      {collectionTabs(collection, 'deleted')}
      {pastTime.value === undefined ? (
        <DeletedList collection={collection} />
      ) : (
        <p class="empty">The list is not available for a past time. Choose Back to now.</p>
      )}
    </>
  )
}

function DeletedList({ collection }: { collection: string }) {
  const [found, setFound] = useState<readonly DeletedDocument[]>([])
  /** Cursors of the next older page, and of the page that was read last. */
  const [older, setOlder] = useState<Json | undefined>(undefined)
  const [from, setFrom] = useState<Json | undefined>(undefined)
  const [filter, setFilter] = useState('')
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const action = useAction()
  const page = useLoad(
    async signal => {
      const { documents, older: next } = await listDeleted(collection, from, signal)
      // An older page may contain an earlier deletion of a document whose last deletion is listed already.
      setFound(before => [...before, ...documents.filter(({ id }) => !before.some(each => each.id === id))])
      setOlder(next)
    },
    [collection, from],
  )
  const wanted = filter.toLowerCase()
  const matching = found.filter(
    ({ id, data }) =>
      id.includes(wanted) ||
      writeJson(data ?? null)
        .toLowerCase()
        .includes(wanted),
  )
  const restore = ({ id, ts }: DeletedDocument) =>
    action.start(async signal => {
      setNotice(undefined)
      await restoreDocument({ collection, id }, ts, signal)
      setFound(before => before.filter(each => each.id !== id))
      setNotice(`${collection}/${id} was restored.`)
    })
  return (
    <>
      <p class="hint">
        A restored document has its former id and data. Passwords and tokens are not restored. Deleted
        documents are listed for as long as the collection keeps history (setting “Days of history”).
      </p>
      <Field label="Find in id or data" type="search" value={filter} onInput={setFilter} />
      {action.error && <Problem error={action.error} />}
      <Notice text={notice} />
      {matching.length > 0 ? (
        <DeletedTable collection={collection} documents={matching} onRestore={restore} />
      ) : (
        !page.isLoading &&
        !page.error && (
          <p class="empty">
            No deleted document was found{older !== undefined && ' so far. Search further back'}.
          </p>
        )
      )}
      {page.error && <Problem error={page.error} retry={page.reload} />}
      {page.isLoading && (
        <p class="loading" role="status">
          Searching the history…
        </p>
      )}
      {older !== undefined && !page.isLoading && (
        <p class="pager">
          <Button onClick={() => setFrom(older)}>Search further back</Button>
        </p>
      )}
    </>
  )
}

interface TableProps {
  readonly collection: string
  readonly documents: readonly DeletedDocument[]
  readonly onRestore: (document: DeletedDocument) => void
}

function DeletedTable({ collection, documents, onRestore }: TableProps) {
  return (
    <Table label="Deleted documents" columns={['Id', 'Deleted', 'Last data', buttons('Actions')]}>
      {documents.map(document => {
        const { id, ts, data } = document
        return (
          <tr key={id}>
            <td>
              <a href={addressOf(['collections', collection, id, 'history'])}>{id}</a>
            </td>
            <td>
              <Instant micros={ts} />
            </td>
            <td>
              <bdi>{data === undefined ? 'no longer stored' : previewOf(data)}</bdi>
            </td>
            <td>
              {rights.value.writes && data !== undefined && (
                <Button onClick={() => onRestore(document)}>
                  Restore<span class="unseen"> {id}</span>
                </Button>
              )}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
