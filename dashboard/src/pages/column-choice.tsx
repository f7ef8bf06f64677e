// A choice of the visible columns and of their order, stored in the address of the page.

import { Button } from '../parts/button.tsx'
import { Check } from '../parts/fields.tsx'
import { addressWith, go } from '../router.ts'
import { writeJson } from '../wire/json.ts'

interface ColumnChoiceProps {
  /** All columns of the rows. */
  readonly names: readonly string[]
  /** The visible columns, which may be absent from `names`. */
  readonly columns: readonly string[]
}

/** Maximum number of hidden columns in the list. */
const hiddenMax = 200

export function ColumnChoice({ names, columns }: ColumnChoiceProps) {
  const choose = (chosen: readonly string[] | undefined) =>
    go(addressWith({ columns: chosen && writeJson(chosen) }), 'replace')
  const move = (at: number, by: number) => {
    const moved = [...columns]
    const [name] = moved.splice(at, 1)
    if (name === undefined) return
    moved.splice(at + by, 0, name)
    choose(moved)
  }
  const hidden = names.filter(name => !columns.includes(name))
  return (
    <details class="columns">
      <summary>
        Columns ({columns.length} of {columns.length + hidden.length})
      </summary>
      <ul class="column-list" aria-label="Columns">
        {columns.map((name, at) => (
          <li key={name}>
            <Check
              label={<bdi>{name}</bdi>}
              isOn
              onChange={() => choose(columns.filter(column => column !== name))}
            />
            <Button
              class="quiet"
              aria-label={`Move ${name} left`}
              disabled={at === 0}
              onClick={() => move(at, -1)}
            >
              ←
            </Button>
            <Button
              class="quiet"
              aria-label={`Move ${name} right`}
              disabled={at === columns.length - 1}
              onClick={() => move(at, 1)}
            >
              →
            </Button>
          </li>
        ))}
        {hidden.slice(0, hiddenMax).map(name => (
          <li key={name}>
            <Check label={<bdi>{name}</bdi>} isOn={false} onChange={() => choose([...columns, name])} />
          </li>
        ))}
      </ul>
      <Button class="quiet" onClick={() => choose(undefined)}>
        Reset columns
      </Button>
    </details>
  )
}
