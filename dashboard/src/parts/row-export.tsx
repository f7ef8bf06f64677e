// Takes the rows that are shown with one, as JSON or CSV.

import { place } from '../router.ts'
import { readRowText } from '../service/read-rows.ts'
import type { RowSource } from '../service/row-source.ts'
import { at, isMap, type Json, listAt, parseJson, writeJson } from '../wire/json.ts'
import { fieldsOf } from '../wire/rows.ts'
import { download } from './copy.tsx'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'

interface RowExportProps {
  readonly collection: string
  readonly source: RowSource
  readonly columns: readonly string[]
  readonly size: number
}

/** Buttons that download the rows seen. */
export function RowExport({ collection, source, columns, size }: RowExportProps) {
  const action = useAction()
  const save = (format: 'json' | 'csv') =>
    action.start(async signal => {
      const { parameters } = place.value
      const after = parameters.get('after')
      const before = parameters.get('before')
      const cursor = {
        ...(after !== null && { after: parseJson(after) }),
        ...(before !== null && { before: parseJson(before) }),
      }
      const rows = listAt(parseJson(await readRowText(source, size, cursor, signal)), 'resource', 'data')
      if (format === 'json') download(`${collection}.json`, 'application/json', writeJson(rows, '  '))
      else download(`${collection}.csv`, 'text/csv', csvOf(rows, columns))
    })
  return (
    <>
      <button type="button" disabled={action.isRunning} onClick={() => save('json')}>
        Export JSON
      </button>
      <button type="button" disabled={action.isRunning} onClick={() => save('csv')}>
        Export CSV
      </button>
      {action.error && <Problem error={action.error} />}
    </>
  )
}

function csvOf(rows: readonly Json[], columns: readonly string[]): string {
  const lines = rows.map(row => {
    const data = at(row, 'data')
    const fields = isMap(data) ? fieldsOf(data) : undefined
    return [at(row, 'ref', '@ref', 'id'), at(row, 'ts'), ...columns.map(name => fields?.get(name))]
  })
  return `${[['id', 'ts', ...columns], ...lines].map(line => line.map(csvField).join()).join('\r\n')}\r\n`
}

/** A field of RFC 4180. A text that a spreadsheet would take for a formula is led in by an apostrophe. */
function csvField(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  const isText = typeof value === 'string'
  const text = isText ? value : writeJson(value)
  const safe = isText && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
