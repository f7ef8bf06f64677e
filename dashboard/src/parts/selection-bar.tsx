// The actions on selected documents: change, delete and, for a single document, duplicate. One dialog confirms the
// change of all selected documents.

import { useState } from 'preact/hooks'
import { addressOf } from '../router.ts'
import { selectedTarget } from '../service/row-changes.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { walkRefs } from '../service/row-walk.ts'
import type { RefName } from '../wire/refs.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { Button } from './button.tsx'
import { ChangeDialog, DeleteDialog } from './change-dialogs.tsx'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'
import type { Selection } from './selection.tsx'

interface SelectionBarProps {
  readonly collection: string
  readonly selection: Selection
  readonly plan: RowPlan
  /** Fields that the dialog suggests. */
  readonly fields: FieldPaths
  /** `refs` includes documents whose change failed. */
  readonly onChanged: (refs: readonly RefName[]) => void
}

/** Renders nothing while no document is selected. */
export function SelectionBar({ collection, selection, plan, fields, onChanged }: SelectionBarProps) {
  const [dialog, setDialog] = useState<'delete' | 'change' | undefined>(undefined)
  const gathering = useAction()
  const { refs } = selection
  const [only] = refs
  if (only === undefined) return null
  const gather = () =>
    gathering.start(async signal => {
      for await (const found of walkRefs(plan, signal)) selection.set(found.refs, true)
    })
  const close = () => setDialog(undefined)
  const done = () => {
    selection.clear()
    onChanged(refs)
  }
  const dialogProps = { target: selectedTarget(refs), onClose: close, onDone: done }
  return (
    <section class="selection-bar" aria-label="Selected documents">
      <b role="status">{refs.length} selected</b>
      {gathering.isRunning ? (
        <Button onClick={gathering.cancel}>Stop selecting</Button>
      ) : (
        <>
          <Button onClick={() => setDialog('change')}>Change a field</Button>
          <Button class="danger-quiet" onClick={() => setDialog('delete')}>
            Delete {refs.length}
          </Button>
          {refs.length === 1 && only.collection === collection && (
            <a class="button" href={addressOf(['collections', collection, 'new'], { from: only.id })}>
              Duplicate
            </a>
          )}
          <Button onClick={gather}>Select all matching</Button>
          <Button class="quiet" onClick={selection.clear}>
            Clear selection
          </Button>
        </>
      )}
      {gathering.error && <Problem error={gathering.error} />}
      {dialog === 'delete' && <DeleteDialog {...dialogProps} />}
      {dialog === 'change' && <ChangeDialog {...dialogProps} fields={fields} />}
    </section>
  )
}
