// The table of a page of rows.

import { addressOf } from '../router.ts'
import type { Row } from '../wire/rows.ts'
import { Instant } from './time.tsx'
import { Cell } from './values.tsx'

interface RowTableProps {
  readonly collection: string
  readonly rows: readonly Row[]
  readonly columns: readonly string[]
  /** Ids to point out. */
  readonly changed: ReadonlySet<string>
}

/** Rows, with links to their documents. */
export function RowTable({ collection, rows, columns, changed }: RowTableProps) {
  return (
    <section class="table-scroll" tabIndex={0} aria-label="Documents">
      <table>
        <thead>
          <tr>
            <th scope="col">id</th>
            {columns.map(name => (
              <th scope="col" key={name}>
                <bdi>{name}</bdi>
              </th>
            ))}
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={`${row.ref?.id}-${at}`} class={changed.has(row.ref?.id ?? '') ? 'changed' : undefined}>
              <td class="mono">
                <RowLink collection={collection} row={row} />
              </td>
              {columns.map(name => (
                <td key={name}>
                  <Cell value={row.cells.get(name)} />
                </td>
              ))}
              <td>
                <Instant micros={row.ts} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
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
