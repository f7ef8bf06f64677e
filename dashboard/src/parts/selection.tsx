// The documents that the user has selected in a table of rows, and the checkboxes that select them.

import { useMemo, useRef, useState } from 'preact/hooks'
import type { RefName } from '../wire/refs.ts'
import type { Row } from '../wire/rows.ts'

export interface Selection {
  readonly refs: readonly RefName[]
  readonly has: (ref: RefName) => boolean
  readonly set: (refs: readonly RefName[], isOn: boolean) => void
  readonly clear: () => void
}

function keyOf({ collection, id }: RefName): string {
  return `${collection}/${id}`
}

/** The selection is lost when the rows are replaced by another page of rows. */
export function useSelection(): Selection {
  const [chosen, setChosen] = useState<ReadonlyMap<string, RefName>>(new Map())
  return useMemo(
    () => ({
      refs: [...chosen.values()],
      has: ref => chosen.has(keyOf(ref)),
      set: (refs, isOn) =>
        setChosen(before => {
          const after = new Map(before)
          for (const ref of refs) {
            if (isOn) after.set(keyOf(ref), ref)
            else after.delete(keyOf(ref))
          }
          return after
        }),
      clear: () => setChosen(new Map()),
    }),
    [chosen],
  )
}

/** Only documents of user collections can be selected, not index entries. */
function refsOf(rows: readonly Row[]): readonly RefName[] {
  return rows.flatMap(({ ref, ts }) => (ref && !ref.isNative && ts !== undefined ? [ref] : []))
}

interface WholeBoxProps {
  readonly rows: readonly Row[]
  readonly selection: Selection
}

/** Selects all rows of the page. */
export function WholeBox({ rows, selection }: WholeBoxProps) {
  const refs = refsOf(rows)
  const count = refs.filter(selection.has).length
  return (
    <input
      type="checkbox"
      aria-label="Select all on this page"
      checked={refs.length > 0 && count === refs.length}
      indeterminate={count > 0 && count < refs.length}
      onChange={event => selection.set(refs, event.currentTarget.checked)}
    />
  )
}

/** The row that was clicked last. The next click with Shift selects the range from this row. */
let rangeFrom: { readonly rows: readonly Row[]; readonly at: number } | undefined

export function RowBox({ rows, at, selection }: WholeBoxProps & { at: number }) {
  const isRange = useRef(false)
  const row = rows[at]
  const [ref] = row ? refsOf([row]) : []
  if (ref === undefined) return null
  const change = (isOn: boolean) => {
    const from = isRange.current && rangeFrom?.rows === rows ? rangeFrom.at : at
    rangeFrom = { rows, at }
    selection.set(refsOf(rows.slice(Math.min(from, at), Math.max(from, at) + 1)), isOn)
  }
  return (
    <input
      type="checkbox"
      aria-label={`Select ${ref.id}`}
      checked={selection.has(ref)}
      onClick={event => {
        isRange.current = event.shiftKey
      }}
      onChange={event => change(event.currentTarget.checked)}
    />
  )
}
