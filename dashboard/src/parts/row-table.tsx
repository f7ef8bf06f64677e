// The table of rows: its headings sort the rows, checkboxes select rows, and cells can be edited. Arrow keys move
// between cells.

import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf } from '../router.ts'
import { byTime } from '../service/row-plan.ts'
import type { Json } from '../wire/json.ts'
import type { Row } from '../wire/rows.ts'
import { Button } from './button.tsx'
import { CellEditor, isEditable } from './cell-editor.tsx'
import { RowBox, type Selection, WholeBox } from './selection.tsx'
import { Table } from './table.tsx'
import { Instant } from './time.tsx'
import { Cell } from './values.tsx'

/** Without a field, the rows have the order of their source. */
export interface Sorting {
  readonly field: string | undefined
  readonly isReversed: boolean
  readonly onSort: (field: string | undefined) => void
}

export type SaveCell = (row: Row, name: string, value: Json, signal: AbortSignal) => Promise<void>

interface RowTableProps {
  readonly collection: string
  readonly rows: readonly Row[]
  readonly columns: readonly string[]
  /** The ids of the rows to highlight. */
  readonly changed: ReadonlySet<string>
  /** Undefined for rows that are not documents, because they have no fields to sort by. */
  readonly sorting: Sorting | undefined
  /** Undefined for read-only rows. */
  readonly selection: Selection | undefined
  /** Undefined for read-only rows. */
  readonly onSave: SaveCell | undefined
}

/** Rows link to their documents. */
export function RowTable(props: RowTableProps) {
  const { collection, rows, columns, changed, selection, onSave } = props
  const [active, setActive] = useState<readonly [row: number, column: number]>([0, 0])
  return (
    <Table label="Documents" columns={headings(props)}>
      {rows.map((row, at) => (
        <tr key={`${row.ref?.id}-${at}`} class={changed.has(row.ref?.id ?? '') ? 'changed' : undefined}>
          {selection && (
            <td>
              <RowBox rows={rows} at={at} selection={selection} />
            </td>
          )}
          <td class="mono">
            <RowLink collection={collection} row={row} />
          </td>
          {columns.map((name, column) => (
            <ValueCell
              key={name}
              row={row}
              name={name}
              isActive={active[0] === at && active[1] === column}
              onActive={() => setActive([at, column])}
              onSave={row.ref && row.ts !== undefined ? onSave : undefined}
            />
          ))}
          <td>
            <Instant micros={row.ts} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function headings({ rows, columns, sorting, selection }: RowTableProps) {
  const sorted = [
    { text: 'Document', field: undefined },
    ...columns.map(name => ({ text: name, field: name })),
    { text: 'Changed', field: byTime },
  ].map(({ text, field }, at) => <Head key={at} text={text} field={field} sorting={sorting} />)
  if (!selection) return sorted
  const box = (
    <th key="selection" scope="col">
      <WholeBox rows={rows} selection={selection} />
    </th>
  )
  return [box, ...sorted]
}

interface HeadProps {
  readonly text: string
  readonly field: string | undefined
  readonly sorting: Sorting | undefined
}

function Head({ text, field, sorting }: HeadProps) {
  const isSorted = sorting !== undefined && sorting.field === field
  const order = isSorted ? (sorting.isReversed ? 'descending' : 'ascending') : undefined
  return (
    <th scope="col" aria-sort={order}>
      {sorting ? (
        <Button class="sort" onClick={() => sorting.onSort(field)}>
          <bdi>{text}</bdi>
          <span aria-hidden="true">{order === undefined ? '' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
        </Button>
      ) : (
        <bdi>{text}</bdi>
      )}
    </th>
  )
}

interface ValueCellProps {
  readonly row: Row
  readonly name: string
  readonly isActive: boolean
  readonly onActive: () => void
  readonly onSave: SaveCell | undefined
}

function ValueCell({ row, name, isActive, onActive, onSave }: ValueCellProps) {
  const value = row.cells.get(name)
  const [isEditing, setEditing] = useState(false)
  const cell = useRef<HTMLTableCellElement>(null)
  // Touch screens have no double click: the second tap on a cell opens the editor.
  const wasActive = useRef(false)
  const takesFocus = useRef(false)
  const close = (keepsFocus: boolean) => {
    takesFocus.current = keepsFocus
    setEditing(false)
  }
  useEffect(() => {
    if (isEditing || !takesFocus.current) return
    takesFocus.current = false
    cell.current?.focus()
  }, [isEditing])
  if (!onSave || !isEditable(value)) {
    return (
      <td>
        <Cell value={value} />
      </td>
    )
  }
  if (isEditing) {
    return (
      <td ref={cell} class="editing">
        <CellEditor
          label={`${name} of ${row.ref?.id}`}
          value={value}
          onSave={(typed, signal) => onSave(row, name, typed, signal)}
          onClose={close}
        />
      </td>
    )
  }
  return (
    <td
      ref={cell}
      class="editable"
      tabIndex={isActive ? 0 : -1}
      title="Double-click or press Enter to edit"
      onFocus={onActive}
      onPointerDown={event => {
        wasActive.current = document.activeElement === event.currentTarget
      }}
      onClick={event => {
        const isLink = (event.target as Element).closest('a') !== null
        if (wasActive.current && !isLink) setEditing(true)
      }}
      onDblClick={() => setEditing(true)}
      onKeyDown={event => {
        if (event.target !== event.currentTarget) return
        if (event.key === 'Enter' || event.key === 'F2') {
          event.preventDefault()
          setEditing(true)
        } else if (moveFocus(event.currentTarget, event.key)) event.preventDefault()
      }}
    >
      <Cell value={value} />
    </td>
  )
}

/** Moves in the direction of an arrow key. Returns false for other keys, and if the next cell is not editable. */
function moveFocus(cell: HTMLTableCellElement, key: string): boolean {
  const row = cell.parentElement
  const next = {
    ArrowLeft: cell.previousElementSibling,
    ArrowRight: cell.nextElementSibling,
    ArrowUp: row?.previousElementSibling?.children[cell.cellIndex],
    ArrowDown: row?.nextElementSibling?.children[cell.cellIndex],
  }[key]
  if (!(next instanceof HTMLElement) || !next.classList.contains('editable')) return false
  next.focus()
  return true
}

function RowLink({ collection, row: { ref } }: { collection: string; row: Row }) {
  if (ref === undefined) return <span class="absent">–</span>
  const isOwn = ref.collection === collection && !ref.isNative
  if (ref.isNative) return <>{ref.id}</>
  return (
    <a href={addressOf(['collections', ref.collection, ref.id])}>
      {isOwn ? ref.id : `${ref.collection}/${ref.id}`}
    </a>
  )
}
