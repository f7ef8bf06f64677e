// The page of the documents of a collection. An index and a filter select the rows, and a sort order arranges them. The
// address contains these settings, and the next visit restores them.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { BulkChanges } from '../parts/bulk-changes.tsx'
import { CountAll } from '../parts/count-all.tsx'
import { Check, Field } from '../parts/fields.tsx'
import { Heading, Tabs } from '../parts/heading.tsx'
import { useEvery, useLive } from '../parts/live.ts'
import { LoadedContent, type LoadState, useLoad } from '../parts/load.tsx'
import { documentsText } from '../parts/quantities.ts'
import type { Sorting } from '../parts/row-table.tsx'
import { address, addressOf, addressWith, fromStart, go, pastTime } from '../router.ts'
import { savedView, saveView, viewIn } from '../service/collection-views.ts'
import { readConditions } from '../service/conditions.ts'
import { asPage, mapping, pageOf, read, variable } from '../service/data.ts'
import { countOf, readRows } from '../service/read-rows.ts'
import { needsScan, planOf, type RowView } from '../service/row-plan.ts'
import { covers, type IndexShape, leadsToDocuments, setOf, shapeOf } from '../service/row-source.ts'
import { rights } from '../session.ts'
import { tryJson, writeJson } from '../wire/json.ts'
import { fieldPathsOf, type Row } from '../wire/rows.ts'
import { ConditionForm, conditionText } from './condition-form.tsx'
import { RowPage, type ShownProps } from './row-page.tsx'
import { SourceForm } from './row-source-form.tsx'
import { ScannedRows } from './scanned-rows.tsx'

export function collectionTabs(name: string, here: 'rows' | 'deleted' | 'settings' | 'import') {
  const base = ['collections', name]
  const tabs = [
    // On the page of the documents, this link keeps the filter and opens the first page of rows.
    ['Documents', here === 'rows' ? addressWith(fromStart) : addressOf(base), here === 'rows'],
    ['Deleted', addressOf([...base, 'deleted']), here === 'deleted'],
    ['Settings', addressOf([...base, 'settings']), here === 'settings'],
  ] as (readonly [string, string, boolean])[]
  if (rights.value.imports && pastTime.value === undefined) {
    tabs.push(['Import', addressOf([...base, 'import']), here === 'import'])
  }
  return <Tabs label="Collection" tabs={tabs} />
}

/** Maximum number of indexes of the database that the page reads. */
const indexesMax = 1000

/** Returns no indexes for callers who may not list them. */
function useIndexes(collection: string): LoadState<readonly IndexShape[]> {
  return useLoad(
    async signal => {
      const query = mapping(pageOf({ indexes: null }, indexesMax), { get: variable() })
      const result = await read(query, signal).catch(cause => {
        if (signal.aborted) throw cause
        return undefined
      })
      if (!result) return []
      return asPage(result.value)
        .data.filter(index => covers(index, collection))
        .map(shapeOf)
    },
    [collection, pastTime.value],
  )
}

export function DocumentRows({ collection }: { readonly collection: string }) {
  const indexes = useIndexes(collection)
  const view = viewIn(address.value.parameters)
  const isUntouched = Object.keys(view).length === 0
  const saved = savedView(collection)
  const restoresView = useMemo(() => isUntouched && Object.keys(saved).length > 0, [])
  useEffect(() => {
    if (restoresView) go(addressWith(saved), 'replace')
  }, [])
  const needsIndexes = view.index !== undefined || view.filter !== undefined || view.sort !== undefined
  const isReady = !(restoresView && isUntouched)
  useEffect(() => {
    if (isReady) saveView(collection, view)
  }, [isReady, JSON.stringify(view)])
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={collection}>
        {rights.value.writes && pastTime.value === undefined && (
          <a class="button primary" href={addressOf(['collections', collection, 'new'])}>
            Create document
          </a>
        )}
      </Heading>
      {collectionTabs(collection, 'rows')}
      {needsIndexes && indexes.data === undefined ? (
        <LoadedContent of={indexes}>{() => null}</LoadedContent>
      ) : (
        isReady && <RowsOfView collection={collection} indexes={indexes} isPlanned={needsIndexes} />
      )}
    </>
  )
}

/**
 * Milliseconds between two reads of the list of indexes while an index is being built, so that the page uses the index
 * when it is ready.
 */
const buildingEveryMs = 2000
const noIndexes: readonly IndexShape[] = []

interface RowsOfViewProps {
  readonly collection: string
  readonly indexes: LoadState<readonly IndexShape[]>
  /** The plan depends on the indexes. If false, rows are read before the indexes are loaded. */
  readonly isPlanned: boolean
}

function RowsOfView({ collection, indexes, isPlanned }: RowsOfViewProps) {
  const view = viewIn(address.value.parameters)
  // An unchanged list remains the same object, so that a reload of the list does not read the rows again.
  const listed = indexes.data ?? noIndexes
  const known = useMemo(() => listed, [JSON.stringify(listed)])
  const planIndexes = isPlanned ? known : noIndexes
  const wanted: RowView = useMemo(() => {
    const terms = tryJson(view.terms ?? '')
    return {
      source: {
        collection,
        index: planIndexes.find(({ name }) => name === view.index),
        terms: Array.isArray(terms) ? terms : [],
        isReversed: view.order === 'descending',
      },
      conditions: readConditions(tryJson(view.filter ?? '')),
      sort: view.sort || undefined,
    }
  }, [collection, planIndexes, JSON.stringify({ ...view, columns: undefined })])
  const plan = useMemo(() => planOf(wanted, planIndexes), [wanted, planIndexes])
  const [seen, setSeen] = useState<readonly Row[]>([])
  const fields = useMemo(() => fieldPathsOf(seen), [seen])
  const { source } = wanted
  const isBuilding = needsScan(plan) && known.some(({ isActive }) => !isActive)
  useEvery(isBuilding ? buildingEveryMs : undefined, indexes.reload)
  const needsTerms = (source.index?.terms.length ?? 0) > source.terms.length
  const shown: ShownProps = { collection, plan, fields, onSeen: setSeen, sorting: sortingOf(wanted) }
  return (
    <>
      <div class="toolbar">
        <ConditionForm conditions={wanted.conditions} fields={fields} rows={seen} />
      </div>
      <details class="more-ways" open={source.index !== undefined}>
        <summary>Find by index or id</summary>
        <div class="toolbar">
          <SourceForm source={source} indexes={known} />
          <FindById collection={collection} />
        </div>
      </details>
      {plan.selectedIndex !== undefined && (
        <p class="facts">
          Uses the index <bdi>{plan.selectedIndex}</bdi>.
        </p>
      )}
      {needsTerms ? (
        <p class="empty">Enter the terms to look up in this index.</p>
      ) : needsScan(plan) ? (
        <ScannedRows {...shown} onIndex={indexes.reload} />
      ) : (
        <PagedRows {...shown} />
      )}
    </>
  )
}

/** Returns undefined for index entries without documents, because they have no fields to sort by. */
function sortingOf({ sort, source }: RowView): Sorting | undefined {
  const { isReversed } = source
  if (!leadsToDocuments(source)) return undefined
  const onSort = (field: string | undefined) => {
    const order = field === sort && !isReversed ? 'descending' : undefined
    go(addressWith({ ...fromStart, sort: field, order }))
  }
  return { field: sort, isReversed, onSort }
}

const pageSize = 50
const liveEveryMs = 3000

/** Shows rows in the order of their source. */
function PagedRows(props: ShownProps) {
  const { collection, plan, fields, onSeen } = props
  const { source } = plan
  const [reloads, setReloads] = useState(0)
  const { parameters } = address.value
  const cursor = {
    after: tryJson(parameters.get('after') ?? ''),
    before: tryJson(parameters.get('before') ?? ''),
  }
  const rows = useLoad(
    signal => readRows(source, pageSize, cursor, signal),
    [plan, parameters.get('after'), parameters.get('before'), pastTime.value],
  )
  const count = useLoad(signal => countOf(setOf(source), signal), [plan, pastTime.value])
  const [isLive, setLive] = useState(false)
  const mayBeLive = pastTime.value === undefined
  // The service offers no streams of reversed sets.
  useLive(isLive && mayBeLive ? setOf({ ...source, isReversed: false }) : undefined, rows.reload, liveEveryMs)
  useEffect(() => {
    if (rows.data) onSeen(rows.data.rows)
  }, [rows.data])
  const onChanged = () => {
    rows.reload()
    count.reload()
    setReloads(reloads + 1)
  }
  return (
    <>
      <div class="row-facts">
        <span role="status">
          {count.data && `${count.data.isMore ? 'More than ' : ''}${documentsText(count.data.count)}`}
        </span>
        {count.data?.isMore && <CountAll key={reloads} plan={plan} />}
        {mayBeLive && <Check label="Live" isOn={isLive} onChange={setLive} />}
        {mayBeLive && rights.value.writes && (
          <BulkChanges
            {...{ collection, plan, fields, onChanged }}
            conditions={plan.filter.map(conditionText)}
            isEmpty={count.data?.count === 0}
          />
        )}
      </div>
      <LoadedContent of={rows}>
        {loaded =>
          loaded.rows.length === 0 ? (
            <NoRows collection={collection} isFiltered={source.index !== undefined} />
          ) : (
            <RowPage {...props} rows={loaded.rows} isLive={isLive} onChanged={onChanged}>
              {loaded.before !== undefined && (
                <a class="button" href={addressWith({ before: writeJson(loaded.before), after: undefined })}>
                  ← Previous
                </a>
              )}
              {loaded.after !== undefined && (
                <a class="button" href={addressWith({ after: writeJson(loaded.after), before: undefined })}>
                  Next →
                </a>
              )}
            </RowPage>
          )
        }
      </LoadedContent>
    </>
  )
}

function FindById({ collection }: { collection: string }) {
  const [id, setId] = useState('')
  const open = (event: Event) => {
    event.preventDefault()
    if (id.trim() !== '') go(addressOf(['collections', collection, id.trim()]))
  }
  return (
    <form class="inline-form" onSubmit={open}>
      <Field label="Find by id" value={id} onInput={setId} isMono />
      <button type="submit">Open</button>
    </form>
  )
}

function NoRows({ collection, isFiltered }: { collection: string; isFiltered: boolean }) {
  if (address.value.parameters.has('after') || address.value.parameters.has('before')) {
    return (
      <p class="empty">
        There are no more documents. <a href={addressWith(fromStart)}>Back to the first page</a>
      </p>
    )
  }
  if (isFiltered)
    return (
      <p class="empty">No documents match. Look up other terms, or choose All documents as the source.</p>
    )
  if (pastTime.value !== undefined) return <p class="empty">There were no documents at that time.</p>
  return (
    <p class="empty">
      There are no documents that your secret may read.{' '}
      {rights.value.writes && (
        <>
          <a href={addressOf(['collections', collection, 'new'])}>Create a document</a>
          {rights.value.imports && (
            <>
              {' or '}
              <a href={addressOf(['collections', collection, 'import'])}>import a file</a>
            </>
          )}
          .
        </>
      )}
    </p>
  )
}
