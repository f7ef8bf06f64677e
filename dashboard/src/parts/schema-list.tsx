// The list of a kind of schema object, a page at a time.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { databasePath, pastTime } from '../router.ts'
import { listSchema } from '../service/schema.ts'
import type { Json } from '../wire/json.ts'
import type { Native } from '../wire/refs.ts'
import { Loaded, type Loading, useLoad } from './load.tsx'
import { Pager } from './pager.tsx'

/** A column: its head, and what it shows of a document. */
export type Column = readonly [head: string, cell: (document: Json) => ComponentChildren]

interface SchemaListProps {
  readonly native: Native
  readonly label: string
  readonly columns: readonly Column[]
  /** What to do first, while there are none. */
  readonly whenEmpty: ComponentChildren
  /** Changes when something was made or deleted: the list is read again. */
  readonly turn?: number
}

const pageSize = 100

/** A table of documents of a native collection. */
export function SchemaList({ native, label, columns, whenEmpty, turn = 0 }: SchemaListProps) {
  const [trail, setTrail] = useState<readonly Json[]>([])
  const after = trail.at(-1)
  const list = useLoad(
    signal => listSchema(native, pageSize, { after }, signal),
    [native, after, turn, pastTime.value, databasePath.value.join('/')],
  )
  return (
    <Loaded of={list}>
      {page => (
        <>
          {page.data.length === 0 ? (
            <p class="empty">{whenEmpty}</p>
          ) : (
            <DocumentTable label={label} columns={columns} documents={page.data} />
          )}
          <Pager trail={trail} after={page.after} onTurn={setTrail} />
        </>
      )}
    </Loaded>
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
    <section class="table-scroll" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(([head]) => (
              <th scope="col" key={head}>
                {head === '' ? <span class="unseen">Actions</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {documents.map((document, at) => (
            <tr key={at}>
              {columns.map(([head, cell]) => (
                <td key={head}>{cell(document)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The documents of a native collection for a choice in a form: the first thousand. */
export function useChoices(native: Native): Loading<readonly Json[]> {
  return useLoad(
    async signal => (await listSchema(native, 1000, {}, signal)).data,
    [native, databasePath.value.join('/')],
  )
}
