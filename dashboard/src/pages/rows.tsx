// The rows of a collection, a page at a time.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Check, Field } from '../parts/fields.tsx'
import { Heading, Tabs } from '../parts/heading.tsx'
import { useLive } from '../parts/live.ts'
import { Loaded, type Loading, useLoad } from '../parts/load.tsx'
import { RowExport } from '../parts/row-export.tsx'
import { RowTable } from '../parts/row-table.tsx'
import { addressOf, addressWith, databasePath, go, pastTime, place } from '../router.ts'
import { asPage, mapping, pageOf, read, variable } from '../service/data.ts'
import { readRows } from '../service/read-rows.ts'
import { covers, type IndexShape, type RowSource, setOf, shapeOf } from '../service/row-source.ts'
import { rights } from '../session.ts'
import { type Json, parseJson, writeJson } from '../wire/json.ts'
import { columnsOf, type Rows, usualColumns } from '../wire/rows.ts'
import { SourceForm } from './row-source-form.tsx'

/** The links between the pages of a collection. */
export function collectionTabs(name: string, here: 'rows' | 'settings' | 'import') {
  const base = ['collections', name]
  const tabs = [
    ['Documents', addressOf(base), here === 'rows'],
    ['Settings', addressOf([...base, 'settings']), here === 'settings'],
  ] as (readonly [string, string, boolean])[]
  if (rights.value.imports && pastTime.value === undefined) {
    tabs.push(['Import', addressOf([...base, 'import']), here === 'import'])
  }
  return <Tabs label="Collection" tabs={tabs} />
}

/** JSON in a parameter of the address; undefined where there is none, or something else. */
function jsonParameter(name: string): Json | undefined {
  const text = place.value.parameters.get(name)
  if (text === null) return undefined
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
  const { parameters } = place.value
  const indexName = parameters.get('index')
  const needsIndexes = indexName !== null && indexes.data === undefined
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
      {needsIndexes ? (
        <Loaded of={indexes}>{() => null}</Loaded>
      ) : (
        <RowsOfSource collection={collection} indexes={indexes.data ?? []} />
      )}
    </>
  )
}

const pageSize = 50
const liveEveryMs = 3000

function RowsOfSource({ collection, indexes }: { collection: string; indexes: readonly IndexShape[] }) {
  const { parameters } = place.value
  const indexName = parameters.get('index')
  const termsText = parameters.get('terms')
  const source: RowSource = useMemo(() => {
    const terms = jsonParameter('terms')
    return {
      collection,
      index: indexes.find(({ name }) => name === indexName),
      terms: Array.isArray(terms) ? terms : [],
      isReversed: parameters.get('order') === 'descending',
    }
  }, [collection, indexes, indexName, termsText, parameters.get('order')])
  const needsTerms = (source.index?.terms.length ?? 0) > source.terms.length
  const cursor = { after: jsonParameter('after'), before: jsonParameter('before') }
  const rows = useLoad(
    async signal => (needsTerms ? undefined : readRows(source, pageSize, cursor, signal)),
    [source, parameters.get('after'), parameters.get('before'), pastTime.value, databasePath.value.join('/')],
  )
  const [isLive, setLive] = useState(false)
  const mayBeLive = pastTime.value === undefined && !needsTerms
  useLive(isLive && mayBeLive ? setOf({ ...source, isReversed: false }) : undefined, rows.reload, liveEveryMs)
  return (
    <>
      <div class="toolbar">
        <SourceForm source={source} indexes={indexes} />
        <FindById collection={collection} />
        {mayBeLive && <Check label="Live" isOn={isLive} onChange={setLive} />}
      </div>
      {needsTerms ? (
        <p class="empty">Fill in what to look up in this index.</p>
      ) : (
        <Loaded of={rows}>
          {loaded => loaded && <RowPage {...{ collection, source, isLive }} rows={loaded} />}
        </Loaded>
      )}
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

interface RowPageProps {
  readonly collection: string
  readonly source: RowSource
  readonly rows: Rows
  readonly isLive: boolean
}

function RowPage({ collection, source, rows, isLive }: RowPageProps) {
  const names = columnsOf(rows.rows)
  const chosen = jsonParameter('columns')
  const columns = Array.isArray(chosen) ? chosen.map(String) : usualColumns(names)
  const changed = useChanged(rows, isLive)
  if (rows.rows.length === 0) return <NoRows collection={collection} source={source} />
  return (
    <>
      <ColumnChoice names={names} columns={columns} />
      <RowTable collection={collection} rows={rows.rows} columns={columns} changed={changed} />
      <footer class="pager">
        {rows.before !== undefined && (
          <a class="button" href={addressWith({ before: writeJson(rows.before), after: undefined })}>
            ← Previous
          </a>
        )}
        {rows.after !== undefined && (
          <a class="button" href={addressWith({ after: writeJson(rows.after), before: undefined })}>
            Next →
          </a>
        )}
        <RowExport {...{ collection, source, columns }} size={pageSize} />
      </footer>
    </>
  )
}

/** Ids of the rows that have come or changed since the page was drawn last. */
function useChanged({ rows }: Rows, isLive: boolean): ReadonlySet<string> {
  const before = useRef<ReadonlyMap<string, string>>(new Map())
  const now = new Map(rows.map(({ ref, ts }) => [ref?.id ?? '', String(ts)]))
  const known = before.current
  useEffect(() => {
    before.current = now
  })
  if (!isLive || known.size === 0) return new Set()
  return new Set([...now].filter(([id, ts]) => known.get(id) !== ts).map(([id]) => id))
}

function NoRows({ collection, source }: { collection: string; source: RowSource }) {
  if (place.value.parameters.has('after') || place.value.parameters.has('before')) {
    return (
      <p class="empty">
        There are no more documents.{' '}
        <a href={addressWith({ after: undefined, before: undefined })}>Back to the first</a>
      </p>
    )
  }
  if (source.index !== undefined) return <p class="empty">The index holds nothing for this.</p>
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

function ColumnChoice({ names, columns }: { names: readonly string[]; columns: readonly string[] }) {
  const toggle = (name: string, isOn: boolean) => {
    const chosen = isOn ? [...columns, name] : columns.filter(column => column !== name)
    go(addressWith({ columns: writeJson(chosen) }), 'replace')
  }
  return (
    <details class="columns">
      <summary>
        Columns ({columns.length} of {names.length})
      </summary>
      <div class="column-list">
        {names.slice(0, 200).map(name => (
          <Check
            key={name}
            label={<bdi>{name}</bdi>}
            isOn={columns.includes(name)}
            onChange={isOn => toggle(name, isOn)}
          />
        ))}
      </div>
    </details>
  )
}
