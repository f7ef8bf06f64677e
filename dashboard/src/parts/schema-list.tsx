// The list of a kind of schema object, a page at a time.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { databasePath, pastTime } from '../router.ts'
import { allNames, isNamed, listSchema, searchSchema } from '../service/schema.ts'
import type { Json } from '../wire/json.ts'
import type { Native } from '../wire/refs.ts'
import { Field } from './fields.tsx'
import { useEvery } from './live.ts'
import { Loaded, type Loading, useLoad } from './load.tsx'
import { Pager } from './pager.tsx'
import { buttons, Table } from './table.tsx'

/** A column: its head, and what it shows of a document. */
export type Column = readonly [head: string, cell: (document: Json) => ComponentChildren]

interface SchemaListProps {
  readonly native: Native
  readonly label: string
  readonly columns: readonly Column[]
  /** The rows of a document, where it is not a row itself. */
  readonly partsOf?: (document: Json) => readonly Json[]
  /** What to do first, while there are none. */
  readonly whenEmpty: ComponentChildren
  /** Whether a document is about to change by itself: the list is read again while there is one. */
  readonly rereadsWhile?: (document: Json) => boolean
  /** Changes when something was made or deleted: the list is read again. */
  readonly turn?: number
}

const pageSize = 100
const rereadMs = 1500

/** A table of documents of a native collection. */
export function SchemaList(props: SchemaListProps) {
  const { native, label, columns, partsOf, whenEmpty, rereadsWhile, turn = 0 } = props
  const rowsOf = (documents: readonly Json[]) => (partsOf ? documents.flatMap(partsOf) : documents)
  const [trail, setTrail] = useState<readonly Json[]>([])
  const [filter, setFilter] = useState('')
  const after = trail.at(-1)
  const found = useSearch(native, filter)
  const list = useLoad(
    signal => listSchema(native, pageSize, { after }, signal),
    [native, after, turn, pastTime.value, databasePath.value.join('/')],
  )
  const isChanging = rereadsWhile !== undefined && list.data?.data.some(rereadsWhile)
  useEvery(isChanging ? rereadMs : undefined, list.reload)
  const hasPages = trail.length > 0 || list.data?.after !== undefined
  return (
    <Loaded of={list}>
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
            <Loaded of={found}>
              {matches =>
                matches && (
                  <SearchTable {...{ label, columns }} found={{ ...matches, data: rowsOf(matches.data) }} />
                )
              }
            </Loaded>
          ) : rowsOf(page.data).length > 0 ? (
            <DocumentTable label={label} columns={columns} documents={rowsOf(page.data)} />
          ) : (
            <p class="empty">
              {partsOf && hasPages ? 'There are none on this page. Turn to another.' : whenEmpty}
            </p>
          )}
          {filter === '' && <Pager trail={trail} after={page.after} onTurn={setTrail} />}
        </>
      )}
    </Loaded>
  )
}

interface SearchTableProps {
  readonly label: string
  readonly columns: readonly Column[]
  readonly found: Found
}

function SearchTable({ label, columns, found }: SearchTableProps) {
  if (found.data.length === 0) return <p class="empty">Nothing has this in its name.</p>
  return (
    <>
      <DocumentTable label={label} columns={columns} documents={found.data} />
      {found.isMore && <p class="hint">There are more: type more of the name.</p>}
    </>
  )
}

interface DocumentTableProps {
  readonly label: string
  readonly columns: readonly Column[]
  readonly documents: readonly Json[]
}

/** A table with a row for each document. */
function DocumentTable({ label, columns, documents }: DocumentTableProps) {
  return (
    <Table label={label} columns={[...columns.map(([head]) => (head === '' ? buttons('Actions') : head))]}>
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

/** All names of a kind of schema object, for a choice in a form. */
export function useChoices(native: Native): Loading<readonly string[]> {
  return useLoad(signal => allNames(native, signal), [native, databasePath.value.join('/')])
}

interface Found {
  readonly data: readonly Json[]
  readonly isMore: boolean
}

/** The objects whose names contain a text, among all that there are; undefined while nothing is looked for. */
export function useSearch(native: Native, text: string): Loading<Found | undefined> {
  return useLoad(
    async signal => {
      if (text === '') return undefined
      // Who types on is asked for once, not for each letter.
      await new Promise(resolve => setTimeout(resolve, typingMs))
      return signal.aborted ? undefined : searchSchema(native, text, signal)
    },
    [native, text, pastTime.value, databasePath.value.join('/')],
  )
}

const typingMs = 250
