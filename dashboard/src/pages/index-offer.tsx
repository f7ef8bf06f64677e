// Offers to create an index if a filter or a sort order needs a scan of all documents.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { Notice } from '../parts/problem.tsx'
import { write } from '../service/data.ts'
import { byTime, type RowPlan } from '../service/row-plan.ts'
import type { Query } from '../wire/json.ts'

interface IndexOfferProps {
  readonly collection: string
  readonly plan: RowPlan
  readonly onCreated: () => void
}

/** Renders nothing if an index would not help. */
export function IndexOffer({ collection, plan, onCreated }: IndexOfferProps) {
  const [isOpen, setOpen] = useState(false)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const proposal = proposalOf(plan)
  const [name, setName] = useState('')
  if (proposal === undefined) return null
  const defaultName = `${collection}_by_${proposal.words.join('_')}`.replaceAll(/[^\w$+.-]/g, '_')
  const create = async (signal: AbortSignal) => {
    const object = { name: name || defaultName, source: { collection }, ...proposal.parts }
    await write({ select: 'name', from: { create_index: { object } } }, signal)
    setOpen(false)
    setNotice('The index is being built. It will be used as soon as it is ready.')
    onCreated()
  }
  return (
    <p class="offer">
      This scans every document. An index {proposal.what} avoids the scan.{' '}
      <Button onClick={() => setOpen(true)}>Create an index</Button>
      <Notice text={notice} />
      {isOpen && (
        <FormDialog title="Create index" submit="Create" onClose={() => setOpen(false)} onSubmit={create}>
          <p>
            This index finds documents of <bdi>{collection}</bdi> {proposal.what}. It uses disk space, and
            makes each write a little slower.
          </p>
          <Field label="Name" value={name || defaultName} onInput={setName} isMono hasFocus />
        </FormDialog>
      )}
    </p>
  )
}

interface IndexProposal {
  /** Completes a sentence about the index, for example `by city, sorted by name`. */
  readonly what: string
  /** Fields, for the name of the index. */
  readonly words: readonly string[]
  /** The parameters `terms` and `values` of `CreateIndex`. */
  readonly parts: Readonly<Record<string, Query>>
}

function proposalOf({ conditions, sort, source }: RowPlan): IndexProposal | undefined {
  // A lookup in an index that the user chose needs no other index.
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
