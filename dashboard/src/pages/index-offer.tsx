// Offers an index where every document has to be looked at: it finds, or sorts, at once.

import { useState } from 'preact/hooks'
import { FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { Notice } from '../parts/problem.tsx'
import { write } from '../service/data.ts'
import { byTime, type RowPlan } from '../service/row-plan.ts'
import type { Query } from '../wire/json.ts'

interface IndexOfferProps {
  readonly collection: string
  readonly plan: RowPlan
  readonly onMade: () => void
}

/** The offer; nothing where no index would help. */
export function IndexOffer({ collection, plan, onMade }: IndexOfferProps) {
  const [isOpen, setOpen] = useState(false)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const wanted = wantedOf(plan)
  const [name, setName] = useState('')
  if (wanted === undefined) return null
  const usual = `${collection}_by_${wanted.words.join('_')}`.replaceAll(/[^\w$+.-]/g, '_')
  const make = async (signal: AbortSignal) => {
    const object = { name: name || usual, source: { collection }, ...wanted.parts }
    await write({ select: 'name', from: { create_index: { object } } }, signal)
    setOpen(false)
    setNotice('The index is being built. Once that is done, it is used by itself.')
    onMade()
  }
  return (
    <p class="offer">
      Every document has to be looked at for this. An index {wanted.what} would find them at once.{' '}
      <button type="button" onClick={() => setOpen(true)}>
        Make an index
      </button>
      <Notice text={notice} />
      {isOpen && (
        <FormDialog title="New index" submit="Create" onClose={() => setOpen(false)} onSubmit={make}>
          <p>
            It finds documents of <bdi>{collection}</bdi> {wanted.what}. It takes space, and a little time
            with each write.
          </p>
          <Field label="Name" value={name || usual} onInput={setName} isMono hasFocus />
        </FormDialog>
      )}
    </p>
  )
}

interface Wanted {
  readonly what: string
  readonly words: readonly string[]
  readonly parts: Readonly<Record<string, Query>>
}

function wantedOf({ conditions, sort, source }: RowPlan): Wanted | undefined {
  // What an index was chosen for by hand is no reason for another one.
  if (source.index !== undefined && source.terms.length > 0 && sort === undefined) return undefined
  const found = conditions.find(({ operator, value }) => operator === 'is' && value !== null)
  const sorted = sort !== undefined && sort.field !== byTime ? sort.field : undefined
  if (found === undefined && sorted === undefined) return undefined
  const by = found === undefined ? '' : `by ${found.path.join('.')}`
  const order = sorted === undefined ? '' : `sorted by ${sorted}`
  const terms: Query = found === undefined ? [] : [{ object: { field: ['data', ...found.path] } }]
  const values: Query =
    sorted === undefined ? [] : [{ object: { field: ['data', sorted] } }, { object: { field: ['ref'] } }]
  return {
    what: [by, order].filter(text => text !== '').join(', '),
    words: [...(found?.path ?? []), ...(sorted === undefined ? [] : [sorted])],
    parts: { ...(found && { terms }), ...(sorted !== undefined && { values }) },
  }
}
