// The rows of a collection: all of them, or those that an index or a filter finds, in the order that was chosen. What is
// chosen stands in the address, and is kept for the next time.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { CountAll } from '../parts/count-all.tsx'
import { Check, Field } from '../parts/fields.tsx'
import { FoundChanges } from '../parts/found-changes.tsx'
import { Heading, Tabs } from '../parts/heading.tsx'
import { useEvery, useLive } from '../parts/live.ts'
import { Loaded, type Loading, useLoad } from '../parts/load.tsx'
import type { Sorting } from '../parts/row-table.tsx'
import { addressOf, addressWith, databasePath, go, pastTime, place } from '../router.ts'
import { readConditions } from '../service/conditions.ts'
import { asPage, mapping, pageOf, read, variable } from '../service/data.ts'
import { keepView, keptView, viewIn } from '../service/kept-views.ts'
import { countOf, readRows } from '../service/read-rows.ts'
import { needsScan, planOf, type RowView } from '../service/row-plan.ts'
import { covers, type IndexShape, leadsToDocuments, setOf, shapeOf } from '../service/row-source.ts'
import { rights } from '../session.ts'
import { type Json, parseJson, writeJson } from '../wire/json.ts'
import { fieldPathsOf, type Row } from '../wire/rows.ts'
import { ConditionForm, conditionText } from './condition-form.tsx'
import { RowPage, type ShownProps } from './row-page.tsx'
import { SourceForm } from './row-source-form.tsx'
import { ScannedRows } from './scanned-rows.tsx'

const fromStart = { after: undefined, before: undefined }

/** The links between the pages of a collection. */
export function collectionTabs(name: string, here: 'rows' | 'deleted' | 'settings' | 'import') {
  const base = ['collections', name]
  const tabs = [
    // From the page itself it leads to the first rows of what was chosen.
    ['Documents', here === 'rows' ? addressWith(fromStart) : addressOf(base), here === 'rows'],
    ['Deleted', addressOf([...base, 'deleted']), here === 'deleted'],
    ['Settings', addressOf([...base, 'settings']), here === 'settings'],
  ] as (readonly [string, string, boolean])[]
  if (rights.value.imports && pastTime.value === undefined) {
    tabs.push(['Import', addressOf([...base, 'import']), here === 'import'])
  }
  return <Tabs label="Collection" tabs={tabs} />
}

/** JSON in a parameter of the address; undefined where there is none, or something else. */
function jsonOf(text: string | null | undefined): Json | undefined {
  if (text === null || text === undefined) return undefined
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** The indexes over a collection; none for who may not list them. */
function useIndexes(collection: string): Loading<readonly IndexShape[]> {
  return useLoad(
    async signal => {
      const query = mapping(pageOf({ indexes: null }, 1000), { get: variable() })
      const answer = await read(query, signal).catch(cause => {
        if (signal.aborted) throw cause
        return undefined
      })
      if (!answer) return []
      return asPage(answer.value)
        .data.filter(index => covers(index, collection))
        .map(shapeOf)
    },
    [collection, databasePath.value.join('/')],
  )
}

/** The page of a collection's documents. */
export function DocumentRows({ collection }: { readonly collection: string }) {
  const indexes = useIndexes(collection)
  const view = viewIn(place.value.parameters)
  const isUntouched = Object.keys(view).length === 0
  const kept = keptView(collection)
  const returns = useMemo(() => isUntouched && Object.keys(kept).length > 0, [])
  useEffect(() => {
    if (returns) go(addressWith(kept), 'replace')
  }, [])
  const needsIndexes = view.index !== undefined || view.filter !== undefined || view.sort !== undefined
  const isReady = !(returns && isUntouched)
  useEffect(() => {
    if (isReady) keepView(collection, view)
  }, [isReady, JSON.stringify(view)])
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={collection}>
        {rights.value.writes && pastTime.value === undefined && (
          <a class="button primary" href={addressOf(['collections', collection, 'new'])}>
            New document
          </a>
        )}
      </Heading>
      {collectionTabs(collection, 'rows')}
      {needsIndexes && indexes.data === undefined ? (
        <Loaded of={indexes}>{() => null}</Loaded>
      ) : (
        isReady && <RowsOfView collection={collection} indexes={indexes} isPlanned={needsIndexes} />
      )}
    </>
  )
}

/** An index that is ready is used at once. */
const buildingEveryMs = 2000
const noIndexes: readonly IndexShape[] = []

interface RowsOfViewProps {
  readonly collection: string
  readonly indexes: Loading<readonly IndexShape[]>
  /** The indexes decide how rows are found; else it does not matter when they come. */
  readonly isPlanned: boolean
}

function RowsOfView({ collection, indexes, isPlanned }: RowsOfViewProps) {
  const view = viewIn(place.value.parameters)
  // What has not changed since the list was read before finds nothing anew.
  const listed = indexes.data ?? noIndexes
  const known = useMemo(() => listed, [JSON.stringify(listed)])
  const deciding = isPlanned ? known : noIndexes
  const wanted: RowView = useMemo(() => {
    const terms = jsonOf(view.terms)
    return {
      source: {
        collection,
        index: deciding.find(({ name }) => name === view.index),
        terms: Array.isArray(terms) ? terms : [],
        isReversed: view.order === 'descending',
      },
      conditions: readConditions(jsonOf(view.filter)),
      sort: view.sort || undefined,
    }
  }, [collection, deciding, JSON.stringify({ ...view, columns: undefined })])
  const plan = useMemo(() => planOf(wanted, deciding), [wanted, deciding])
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
        <summary>By index, or by id</summary>
        <div class="toolbar">
          <SourceForm source={source} indexes={known} />
          <FindById collection={collection} />
        </div>
      </details>
      {plan.served !== undefined && (
        <p class="facts">
          Found by the index <bdi>{plan.served}</bdi>.
        </p>
      )}
      {needsTerms ? (
        <p class="empty">Fill in what to look up in this index.</p>
      ) : needsScan(plan) ? (
        <ScannedRows {...shown} onIndex={indexes.reload} />
      ) : (
        <PagedRows {...shown} />
      )}
    </>
  )
}

/** Entries that lead to no documents have no fields to sort by. */
function sortingOf({ sort, source }: RowView): Sorting | undefined {
  const { isReversed } = source
  if (!leadsToDocuments(source)) return undefined
  const onSort = (field: string | undefined) => {
    const turns = field === sort && !isReversed
    const order = turns ? 'descending' : undefined
    go(addressWith({ ...fromStart, sort: field, order }))
  }
  return { field: sort, isReversed, onSort }
}

const pageSize = 50
const liveEveryMs = 3000

/** Rows in the order of their source, a page at a time. */
function PagedRows(props: ShownProps) {
  const { collection, plan, fields, onSeen } = props
  const { source } = plan
  const [turn, setTurn] = useState(0)
  const { parameters } = place.value
  const cursor = { after: jsonOf(parameters.get('after')), before: jsonOf(parameters.get('before')) }
  const moment = [pastTime.value, databasePath.value.join('/')]
  const rows = useLoad(
    signal => readRows(source, pageSize, cursor, signal),
    [plan, parameters.get('after'), parameters.get('before'), ...moment],
  )
  const count = useLoad(signal => countOf(setOf(source), signal), [plan, ...moment])
  const [isLive, setLive] = useState(false)
  const mayBeLive = pastTime.value === undefined
  useLive(isLive && mayBeLive ? setOf({ ...source, isReversed: false }) : undefined, rows.reload, liveEveryMs)
  useEffect(() => {
    if (rows.data) onSeen(rows.data.rows)
  }, [rows.data])
  const onChanged = () => {
    rows.reload()
    count.reload()
    setTurn(turn + 1)
  }
  return (
    <>
      <div class="row-facts">
        <span role="status">{count.data && countText(count.data)}</span>
        {count.data?.isMore && <CountAll key={turn} plan={plan} />}
        {mayBeLive && <Check label="Live" isOn={isLive} onChange={setLive} />}
        {mayBeLive && rights.value.writes && (
          <FoundChanges
            {...{ collection, plan, fields, onChanged }}
            conditions={plan.filter.map(conditionText)}
            isEmpty={count.data?.count === 0}
          />
        )}
      </div>
      <Loaded of={rows}>
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
      </Loaded>
    </>
  )
}

function countText({ count, isMore }: { readonly count: number; readonly isMore: boolean }): string {
  return `${isMore ? 'More than ' : ''}${count} ${count === 1 ? 'document' : 'documents'}`
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
  if (place.value.parameters.has('after') || place.value.parameters.has('before')) {
    return (
      <p class="empty">
        There are no more documents. <a href={addressWith(fromStart)}>Back to the first</a>
      </p>
    )
  }
  if (isFiltered) return <p class="empty">Nothing is found by this.</p>
  if (pastTime.value !== undefined) return <p class="empty">There were no documents at that time.</p>
  return (
    <p class="empty">
      There are no documents here that you may see.{' '}
      {rights.value.writes && (
        <>
          <a href={addressOf(['collections', collection, 'new'])}>Create one</a>
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
