// A table of schema objects of one kind, with pages and a search field.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf, pastTime } from '../router.ts'
import { allNames, isNamed, listSchema, searchSchema } from '../service/schema.ts'
import { type Json, textAt } from '../wire/json.ts'
import type { Native } from '../wire/refs.ts'
import { Button } from './button.tsx'
import { Field } from './fields.tsx'
import { useEvery } from './live.ts'
import { LoadedContent, type LoadState, useLoad } from './load.tsx'
import { buttons, Table } from './table.tsx'

export type Column = readonly [head: string, cell: (document: Json) => ComponentChildren]

/** Links to the pages of the objects. */
export function nameColumn(section: string): Column {
  return [
    'Name',
    document => {
      const name = textAt(document, 'name') ?? ''
      return <a href={addressOf([section, name])}>{name}</a>
    },
  ]
}

interface SchemaListProps {
  readonly native: Native
  readonly label: string
  readonly columns: readonly Column[]
  /** The default is the document itself. */
  readonly partsOf?: (document: Json) => readonly Json[]
  /** Tells the user of an empty list what to do first. */
  readonly whenEmpty: ComponentChildren
  /**
   * True if the service may change a document, such as an index that is being built. The list is then read again at an
   * interval.
   */
  readonly rereadsWhile?: (document: Json) => boolean
  /** A change of this number reads the list again, for example after an object was created. */
  readonly reloads?: number
}

const pageSize = 100
const rereadMs = 1500

export function SchemaList(props: SchemaListProps) {
  const { native, label, columns, partsOf, whenEmpty, rereadsWhile, reloads = 0 } = props
  const rowsOf = (documents: readonly Json[]) => (partsOf ? documents.flatMap(partsOf) : documents)
  const [cursors, setCursors] = useState<readonly Json[]>([])
  const [filter, setFilter] = useState('')
  const after = cursors.at(-1)
  const found = useSearch(native, filter)
  const list = useLoad(
    signal => listSchema(native, pageSize, { after }, signal),
    [native, after, reloads, pastTime.value],
  )
  const isChanging = rereadsWhile !== undefined && list.data?.data.some(rereadsWhile)
  useEvery(isChanging ? rereadMs : undefined, list.reload)
  const hasPages = cursors.length > 0 || list.data?.after !== undefined
  return (
    <LoadedContent of={list}>
      {page => (
        <>
          {isNamed(native) && hasPages && (
            <Field
              label={`Find in ${(partsOf ? native : label).toLowerCase()}`}
              type="search"
              value={filter}
              onInput={setFilter}
            />
          )}
          {filter !== '' ? (
            <LoadedContent of={found}>
              {matches =>
                matches && (
                  <SearchTable {...{ label, columns }} found={{ ...matches, data: rowsOf(matches.data) }} />
                )
              }
            </LoadedContent>
          ) : rowsOf(page.data).length > 0 ? (
            <DocumentTable label={label} columns={columns} documents={rowsOf(page.data)} />
          ) : (
            <p class="empty">
              {partsOf && hasPages ? 'There are no entries on this page. Go to another page.' : whenEmpty}
            </p>
          )}
          {filter === '' && <Pager cursors={cursors} after={page.after} onTurn={setCursors} />}
        </>
      )}
    </LoadedContent>
  )
}

interface SearchTableProps {
  readonly label: string
  readonly columns: readonly Column[]
  readonly found: SearchResult
}

function SearchTable({ label, columns, found }: SearchTableProps) {
  if (found.data.length === 0) return <p class="empty">No name contains this text.</p>
  return (
    <>
      <DocumentTable label={label} columns={columns} documents={found.data} />
      {found.isMore && <p class="hint">There are more matches. Type more of the name.</p>}
    </>
  )
}

interface DocumentTableProps {
  readonly label: string
  readonly columns: readonly Column[]
  readonly documents: readonly Json[]
}

function DocumentTable({ label, columns, documents }: DocumentTableProps) {
  return (
    <Table label={label} columns={columns.map(([head]) => (head === '' ? buttons('Actions') : head))}>
      {documents.map((document, at) => (
        <tr key={at}>
          {columns.map(([head, cell]) => (
            <td key={head}>{cell(document)}</td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

/** Reads the names of all objects of a kind, for a choice in a form. */
export function useChoices(native: Native): LoadState<readonly string[]> {
  return useLoad(signal => allNames(native, signal), [native])
}

interface SearchResult {
  readonly data: readonly Json[]
  readonly isMore: boolean
}

/** Searches the names of all objects of a kind. The result is undefined for an empty text. */
export function useSearch(native: Native, text: string): LoadState<SearchResult | undefined> {
  return useLoad(
    async signal => {
      if (text === '') return undefined
      // Avoids a request for each letter.
      await new Promise(resolve => setTimeout(resolve, typingMs))
      return signal.aborted ? undefined : searchSchema(native, text, signal)
    },
    [native, text, pastTime.value],
  )
}

const typingMs = 250

interface PagerProps<T> {
  /** Cursors of the pages up to the current page; empty on the first page. */
  readonly cursors: readonly T[]
  /** Cursor of the next page; undefined on the last page. */
  readonly after: T | undefined
  readonly onTurn: (cursors: readonly T[]) => void
  readonly back?: string
  readonly on?: string
}

export function Pager<T>({ cursors, after, onTurn, back = '← Previous', on = 'Next →' }: PagerProps<T>) {
  return (
    <div class="pager">
      {cursors.length > 0 && <Button onClick={() => onTurn(cursors.slice(0, -1))}>{back}</Button>}
      {after !== undefined && <Button onClick={() => onTurn([...cursors, after])}>{on}</Button>}
    </div>
  )
}
