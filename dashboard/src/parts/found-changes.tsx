// Changes or deletes all that is found, without a selection: by the filter, however many documents there are.

import { useEffect, useState } from 'preact/hooks'
import { foundTarget } from '../service/row-changes.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { leadsToDocuments } from '../service/row-source.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { ChangeDialog, DeleteDialog } from './change-dialogs.tsx'
import { CountProgress, useCountAtOnce } from './count-all.tsx'
import { Notice } from './problem.tsx'

interface FoundChangesProps {
  readonly collection: string
  readonly plan: RowPlan
  /** The filter in words; empty where there is none. */
  readonly conditions: readonly string[]
  /** Fields to offer. */
  readonly fields: FieldPaths
  /** True when the filter finds no document to change. */
  readonly isEmpty: boolean
  readonly onChanged: () => void
}

/** The buttons, and the result; nothing for entries that lead to no documents. */
export function FoundChanges(props: FoundChangesProps) {
  const { plan, isEmpty, onChanged } = props
  const [dialog, setDialog] = useState<'delete' | 'change' | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  useEffect(() => setNotice(undefined), [plan])
  if (!leadsToDocuments(plan.source)) return null
  const done = (text: string) => {
    setNotice(text)
    onChanged()
  }
  return (
    <>
      {!isEmpty && (
        <>
          <button type="button" onClick={() => setDialog('change')}>
            Change all found
          </button>
          <button type="button" class="danger-quiet" onClick={() => setDialog('delete')}>
            Delete all found
          </button>
        </>
      )}
      <Notice text={notice} />
      {dialog !== undefined && (
        <FoundDialog {...props} kind={dialog} onClose={() => setDialog(undefined)} onDone={done} />
      )}
    </>
  )
}

interface FoundDialogProps extends FoundChangesProps {
  readonly kind: 'delete' | 'change'
  readonly onClose: () => void
  readonly onDone: (text: string) => void
}

function FoundDialog({ kind, collection, plan, conditions, fields, onClose, onDone }: FoundDialogProps) {
  const [count, setCount] = useState<number | undefined>(undefined)
  const counting = useCountAtOnce(plan, setCount)
  const [target] = useState(() => foundTarget(plan, undefined))
  const isWhole = conditions.length === 0 && plan.source.index === undefined
  const props = { target: { ...target, count }, onClose, onDone }
  const facts = (
    <>
      <p>
        {isWhole ? (
          <>
            All documents of <bdi>{collection}</bdi>.
          </>
        ) : (
          <>
            Documents of <bdi>{collection}</bdi> that are found by{' '}
            <bdi>{[...(plan.source.index ? [plan.source.index.name] : []), ...conditions].join(', ')}</bdi>.
            Each is checked against the filter again when it is written.
          </>
        )}
      </p>
      <div class="row-facts">
        <CountProgress counting={counting} />
      </div>
    </>
  )
  return kind === 'delete' ? (
    <DeleteDialog {...props} typed={isWhole ? collection : undefined}>
      {facts}
    </DeleteDialog>
  ) : (
    <ChangeDialog {...props} fields={fields}>
      {facts}
    </ChangeDialog>
  )
}
