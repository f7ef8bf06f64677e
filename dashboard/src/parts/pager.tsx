// Ways to the page before and the page behind of a list that is read with cursors.

import type { Json } from '../wire/json.ts'

interface PagerProps {
  /** The cursors of the pages up to the one shown; none for the first. */
  readonly trail: readonly Json[]
  /** The cursor of the page behind; undefined at the end. */
  readonly after: Json | undefined
  readonly onTurn: (trail: readonly Json[]) => void
}

/** The two buttons, as far as there are such pages. */
export function Pager({ trail, after, onTurn }: PagerProps) {
  return (
    <div class="pager">
      {trail.length > 0 && (
        <button type="button" onClick={() => onTurn(trail.slice(0, -1))}>
          ← Previous
        </button>
      )}
      {after !== undefined && (
        <button type="button" onClick={() => onTurn([...trail, after])}>
          Next →
        </button>
      )}
    </div>
  )
}
