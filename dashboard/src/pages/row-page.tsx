// A table of rows with its controls: editable cells, selection, columns and export.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { RowExport } from '../parts/row-export.tsx'
import { RowTable, type SaveCell, type Sorting } from '../parts/row-table.tsx'
import { useSelection } from '../parts/selection.tsx'
import { SelectionBar } from '../parts/selection-bar.tsx'
import { address, pastTime } from '../router.ts'
import { saveField } from '../service/row-changes.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { rights } from '../session.ts'
import { tryJson } from '../wire/json.ts'
import type { RefName } from '../wire/refs.ts'
import { columnsOf, type FieldPaths, type Row } from '../wire/rows.ts'
import { ColumnChoice } from './column-choice.tsx'

/** Properties of both views of rows: the pages of a source, and the matches of a scan. */
export interface ShownProps {
  readonly collection: string
  readonly plan: RowPlan
  /** Fields of the rows that were read. */
  readonly fields: FieldPaths
  readonly onSeen: (rows: readonly Row[]) => void
  readonly sorting: Sorting | undefined
}

interface RowPageProps extends Omit<ShownProps, 'onSeen'> {
  readonly rows: readonly Row[]
  readonly isLive: boolean
  /** Called with documents that have changed or were deleted. */
  readonly onChanged: (refs: readonly RefName[]) => void
  /** Links to other pages of rows. */
  readonly children: ComponentChildren
}

/** Number of columns that the page shows by default. */
const columnsMax = 8

export function RowPage(props: RowPageProps) {
  const { collection, plan, fields, sorting, rows, isLive, onChanged, children } = props
  const own = columnsOf(rows)
  const columns = chosenColumns() ?? own.slice(0, columnsMax)
  const changed = useChanged(rows, isLive)
  const selection = useSelection()
  const mayChange = rights.value.writes && pastTime.value === undefined
  const save: SaveCell = async (row, name, value, signal) => {
    try {
      await saveField(row, name, value, signal)
    } finally {
      if (row.ref) onChanged([row.ref])
    }
  }
  return (
    <>
      {mayChange && <SelectionBar {...{ collection, selection, plan, fields, onChanged }} />}
      <RowTable
        {...{ collection, rows, columns, changed, sorting }}
        selection={mayChange ? selection : undefined}
        onSave={mayChange ? save : undefined}
      />
      <footer class="pager">
        {children}
        <RowExport {...{ collection, plan, columns }} />
      </footer>
      <ColumnChoice names={own} columns={columns} />
    </>
  )
}

function chosenColumns(): readonly string[] | undefined {
  const chosen = tryJson(address.value.parameters.get('columns') ?? '')
  return Array.isArray(chosen) ? [...new Set(chosen.map(String))] : undefined
}

/** Returns the ids of the rows that were added or changed since the last render; empty unless `isLive` is true. */
function useChanged(rows: readonly Row[], isLive: boolean): ReadonlySet<string> {
  const before = useRef<ReadonlyMap<string, string>>(new Map())
  const now = new Map(rows.map(({ ref, ts }) => [ref?.id ?? '', String(ts)]))
  const known = before.current
  useEffect(() => {
    before.current = now
  })
  if (!isLive || known.size === 0) return new Set()
  return new Set([...now].filter(([id, ts]) => known.get(id) !== ts).map(([id]) => id))
}
