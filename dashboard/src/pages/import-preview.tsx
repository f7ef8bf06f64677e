// The first documents of a file as they will be stored, with the type of each value. The user can choose the types of
// columns.

import { Button } from '../parts/button.tsx'
import { Table } from '../parts/table.tsx'
import { Cell } from '../parts/values.tsx'
import { type ImportPlan, type TypeName, typeNames } from '../service/import-documents.ts'
import type { Preview, PreviewRow } from '../service/import-preview.ts'
import { typeNameOf } from '../wire/type-names.ts'

interface PreviewProps {
  readonly preview: Preview
  readonly plan: ImportPlan
  readonly onTypes: (types: ImportPlan['types']) => void
}

export function ImportPreview({ preview, plan: { into, types }, onTypes }: PreviewProps) {
  const { rows, columns, suggested } = preview
  const choose = (column: string, type: TypeName | '') => {
    const chosen = new Map(types)
    if (type === '') chosen.delete(column)
    else chosen.set(column, type)
    onTypes(chosen)
  }
  return (
    <section aria-label="Preview" class="preview">
      <h2>Preview: the first documents as they will be stored</h2>
      {suggested.size > 0 && (
        <p>
          Some columns contain only text that looks like another type.{' '}
          <Button onClick={() => onTypes(new Map([...types, ...suggested]))}>
            Use <bdi>{[...suggested].map(([column, type]) => `${column}: ${type}`).join(', ')}</bdi>
          </Button>
        </p>
      )}
      <Table
        label="First documents"
        columns={[
          'Line',
          'id',
          ...(into === undefined ? ['Collection'] : []),
          ...columns.map(column => (
            <th scope="col" key={column}>
              <bdi>{column}</bdi>
              <TypeChoice column={column} type={types.get(column)} onChange={type => choose(column, type)} />
            </th>
          )),
        ]}
      >
        {rows.map((row, at) => (
          <Row key={at} row={row} columns={columns} hasCollection={into === undefined} />
        ))}
      </Table>
    </section>
  )
}

interface TypeChoiceProps {
  readonly column: string
  readonly type: TypeName | undefined
  readonly onChange: (type: TypeName | '') => void
}

function TypeChoice({ column, type, onChange }: TypeChoiceProps) {
  return (
    <select
      aria-label={`Type of ${column}`}
      value={type ?? ''}
      onChange={event => onChange(event.currentTarget.value as TypeName | '')}
    >
      <option value="">as in the file</option>
      {typeNames.map(name => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

interface RowProps {
  readonly row: PreviewRow
  readonly columns: readonly string[]
  readonly hasCollection: boolean
}

function Row({ row, columns, hasCollection }: RowProps) {
  return (
    <tr>
      <td class="mono">{row.line}</td>
      <td class="mono">{row.id ?? <span class="absent">new</span>}</td>
      {hasCollection && (
        <td>
          <bdi>{row.collection}</bdi>
        </td>
      )}
      {row.bad === undefined ? (
        columns.map(column => {
          const value = row.cells.get(column)
          return (
            <td key={column}>
              <Cell value={value} />
              {value !== undefined && <span class="type-name">{typeNameOf(value)}</span>}
            </td>
          )
        })
      ) : (
        <td colSpan={Math.max(columns.length, 1)} class="refused">
          Cannot be imported: <bdi>{row.bad}</bdi>
        </td>
      )}
    </tr>
  )
}
