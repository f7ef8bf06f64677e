// Exports all rows that a plan finds, not only the rows on the page, as JSON or CSV. The export has the order of the
// plan's source: for another order, the browser would need all rows in memory.

import { useEffect, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { walkElements } from '../service/row-walk.ts'
import { type Json, writeJson } from '../wire/json.ts'
import { cellsOf } from '../wire/rows.ts'
import { Button } from './button.tsx'
import { download } from './copy.tsx'
import { useEstimate } from './estimate.ts'
import { useAction } from './load.tsx'
import { Notice, Problem } from './problem.tsx'

interface RowExportProps {
  readonly collection: string
  readonly plan: RowPlan
  readonly columns: readonly string[]
}

type Format = 'json' | 'csv'

interface ExportState {
  readonly exported: number
  readonly scanned: number
  readonly after: Json | undefined
}

const nothing: ExportState = { exported: 0, scanned: 0, after: undefined }

const types = { json: 'application/json', csv: 'text/csv' } as const

export function RowExport({ collection, plan, columns }: RowExportProps) {
  const action = useAction()
  const [done, setDone] = useState(nothing)
  const estimate = useEstimate(plan.source, { ...done, isRunning: action.isRunning })
  const [notice, setNotice] = useState<string | undefined>(undefined)
  useEffect(() => guard(() => action.isRunning), [action.isRunning])
  const save = (format: Format) =>
    action.start(async signal => {
      setDone(nothing)
      setNotice(undefined)
      let [exported, read] = [0, 0]
      // Blobs do not fill the memory: the browser stores large ones on disk.
      const parts: Blob[] = []
      const add = (text: string) => parts.push(new Blob([text]))
      add(format === 'json' ? '[' : csvLine(['id', ...columns]))
      // The export ignores `plan.sort`.
      for await (const { after, elements, scanned } of walkElements(plan, signal)) {
        signal.throwIfAborted()
        const lines = elements.map(element =>
          format === 'csv' ? csvRow(element, plan, columns) : writeJson(element),
        )
        const isFirst = exported === 0
        exported += elements.length
        read += scanned
        setDone({ exported, scanned: read, after })
        if (lines.length === 0) continue
        add(format === 'csv' ? lines.join('') : `${isFirst ? '' : ','}\n${lines.join(',\n')}`)
      }
      if (format === 'json') add('\n]\n')
      download(`${collection}.${format}`, types[format], parts)
      setNotice(`${exported} rows exported.`)
    })
  return (
    <>
      {action.isRunning ? (
        <>
          <span role="status">
            {done.exported} rows exported{estimate}…
          </span>
          <Button onClick={action.cancel}>Stop export</Button>
        </>
      ) : (
        <>
          <Button title="Exports all matching rows with all fields" onClick={() => save('json')}>
            Export JSON
          </Button>
          <Button title="Exports all matching rows with the visible columns" onClick={() => save('csv')}>
            Export CSV
          </Button>
        </>
      )}
      <Notice text={notice} />
      {action.error && <Problem error={action.error} />}
    </>
  )
}

function csvRow(element: Json, { source }: RowPlan, columns: readonly string[]): string {
  const { ref, cells } = cellsOf(element, source.index?.values ?? [])
  return csvLine([ref?.id, ...columns.map(name => cells.get(name))])
}

function csvLine(cells: readonly (Json | undefined)[]): string {
  return `${cells.map(csvField).join()}\r\n`
}

/** Writes a field as RFC 4180 requires. An apostrophe precedes text that a spreadsheet would evaluate as a formula. */
function csvField(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  const isText = typeof value === 'string'
  const text = isText ? value : writeJson(value)
  const safe = isText && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
