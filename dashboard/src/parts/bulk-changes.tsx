// Changes or deletes all documents that match the filter, without a selection of rows.

import { useEffect, useState } from 'preact/hooks'
import { matchTarget } from '../service/row-changes.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { leadsToDocuments } from '../service/row-source.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { Button } from './button.tsx'
import { ChangeDialog, DeleteDialog } from './change-dialogs.tsx'
import { CountProgress, useCountAtOnce } from './count-all.tsx'
import { Notice } from './problem.tsx'

interface BulkChangesProps {
  readonly collection: string
  readonly plan: RowPlan
  /** Conditions in words; empty without a filter. */
  readonly conditions: readonly string[]
  /** Fields that the dialog suggests. */
  readonly fields: FieldPaths
  /** True if no document matches the filter. */
  readonly isEmpty: boolean
  readonly onChanged: () => void
}

/** Renders nothing for index entries without documents. */
export function BulkChanges(props: BulkChangesProps) {
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
          <Button onClick={() => setDialog('change')}>Change all matching</Button>
          <Button class="danger-quiet" onClick={() => setDialog('delete')}>
            Delete all matching
          </Button>
        </>
      )}
      <Notice text={notice} />
      {dialog !== undefined && (
        <BulkDialog {...props} kind={dialog} onClose={() => setDialog(undefined)} onDone={done} />
      )}
    </>
  )
}

interface BulkDialogProps extends BulkChangesProps {
  readonly kind: 'delete' | 'change'
  readonly onClose: () => void
  readonly onDone: (text: string) => void
}

function BulkDialog({ kind, collection, plan, conditions, fields, onClose, onDone }: BulkDialogProps) {
  const [count, setCount] = useState<number | undefined>(undefined)
  const counting = useCountAtOnce(plan, setCount)
  const [target] = useState(() => matchTarget(plan, undefined))
  const affectsAll = conditions.length === 0 && plan.source.index === undefined
  const props = { target: { ...target, count }, onClose, onDone }
  const facts = (
    <>
      <p>
        {affectsAll ? (
          <>
            This affects all documents of <bdi>{collection}</bdi>.
          </>
        ) : (
          <>
            This affects documents of <bdi>{collection}</bdi> that match{' '}
            <bdi>{[...(plan.source.index ? [plan.source.index.name] : []), ...conditions].join(', ')}</bdi>.
            Each transaction checks the filter again.
          </>
        )}
      </p>
      <div class="row-facts">
        <CountProgress counting={counting} />
      </div>
    </>
  )
  return kind === 'delete' ? (
    <DeleteDialog {...props} typed={affectsAll ? collection : undefined}>
      {facts}
    </DeleteDialog>
  ) : (
    <ChangeDialog {...props} fields={fields}>
      {facts}
    </ChangeDialog>
  )
}
