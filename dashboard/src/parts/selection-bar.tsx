// What can be done with the selected documents: delete or change them all, with one confirmation that says how many.

import { useEffect, useId, useState } from 'preact/hooks'
import { addressOf, guard } from '../router.ts'
import { pathOf } from '../service/conditions.ts'
import { type Changed, type ChangeOf, changeEach, deletion, settingOf } from '../service/row-changes.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { walkRefs } from '../service/row-walk.ts'
import { valueOfText } from '../service/typed-value.ts'
import type { RefName } from '../wire/refs.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { typeNamed } from '../wire/type-names.ts'
import { FormDialog } from './dialog.tsx'
import { Field } from './fields.tsx'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'
import type { Selection } from './selection.tsx'

interface SelectionBarProps {
  readonly collection: string
  readonly selection: Selection
  readonly plan: RowPlan
  /** Fields to offer. */
  readonly fields: FieldPaths
  /** Called with what was changed, or tried to. */
  readonly onChanged: (refs: readonly RefName[]) => void
}

/** The bar; it is there while something is selected. */
export function SelectionBar({ collection, selection, plan, fields, onChanged }: SelectionBarProps) {
  const [dialog, setDialog] = useState<'delete' | 'change' | undefined>(undefined)
  const gathering = useAction()
  const { refs } = selection
  const [only] = refs
  if (only === undefined) return null
  const gather = () =>
    gathering.start(async signal => {
      for await (const found of walkRefs(plan, signal)) {
        selection.set(
          found.filter(({ isNative }) => !isNative),
          true,
        )
      }
    })
  const close = () => setDialog(undefined)
  const done = (tried: readonly RefName[]) => {
    selection.clear()
    onChanged(tried)
  }
  return (
    <section class="selection-bar" aria-label="Selected documents">
      <b role="status">{refs.length} selected</b>
      {gathering.isRunning ? (
        <button type="button" onClick={gathering.cancel}>
          Stop selecting
        </button>
      ) : (
        <>
          <button type="button" onClick={() => setDialog('change')}>
            Change a field
          </button>
          <button type="button" class="danger-quiet" onClick={() => setDialog('delete')}>
            Delete {refs.length}
          </button>
          {refs.length === 1 && only.collection === collection && (
            <a class="button" href={addressOf(['collections', collection, 'new'], { from: only.id })}>
              Duplicate
            </a>
          )}
          <button type="button" onClick={gather}>
            Select all found
          </button>
          <button type="button" class="quiet" onClick={selection.clear}>
            Clear
          </button>
        </>
      )}
      {gathering.error && <Problem error={gathering.error} />}
      {dialog === 'delete' && <DeleteDialog refs={refs} onClose={close} onDone={done} />}
      {dialog === 'change' && <ChangeDialog refs={refs} fields={fields} onClose={close} onDone={done} />}
    </section>
  )
}

interface ChangesProps {
  readonly refs: readonly RefName[]
  readonly onClose: () => void
  readonly onDone: (tried: readonly RefName[]) => void
}

/** Runs a change over documents; what was refused stays on the screen. */
function useChanges({ refs, onClose, onDone }: ChangesProps) {
  const [changed, setChanged] = useState<Changed | undefined>(undefined)
  const [isRunning, setRunning] = useState(false)
  useEffect(() => guard(() => isRunning), [isRunning])
  const run = async (change: ChangeOf, signal: AbortSignal) => {
    setRunning(true)
    try {
      const { refused } = await changeEach(refs, change, setChanged, signal)
      if (refused.length > 0) throw new Error(refusalText(refused.length, refs.length, refused))
      onClose()
      onDone(refs)
    } finally {
      setRunning(false)
    }
  }
  /** Closing shows what was done until then. */
  const close = () => {
    onClose()
    if (changed !== undefined) onDone(refs)
  }
  return { changed, isRunning, run, close }
}

const shownMax = 10

function refusalText(count: number, all: number, refused: Changed['refused']): string {
  const shown = refused.slice(0, shownMax).map(({ ref, reason }) => `${ref.collection}/${ref.id}: ${reason}`)
  const more = count > shown.length ? [`and ${count - shown.length} more`] : []
  return [`${count} of ${all} documents were refused; the others are done.`, ...shown, ...more].join('\n')
}

function ChangeProgress({ changed, all }: { changed: Changed | undefined; all: number }) {
  if (changed === undefined) return null
  const tried = changed.done + changed.refused.length
  return (
    <p role="status">
      <progress aria-label="Documents done" value={tried} max={all} /> {changed.done} of {all} done
    </p>
  )
}

function DeleteDialog(props: ChangesProps) {
  const { refs } = props
  const { changed, isRunning, run, close } = useChanges(props)
  return (
    <FormDialog
      title={`Delete ${refs.length} documents?`}
      submit={`Delete ${refs.length} documents`}
      isDangerous
      isReady={!isRunning}
      onClose={close}
      onSubmit={signal => run(deletion, signal)}
    >
      <p>
        Their versions stay in the history for as long as the collection keeps them. Of users, tokens stop
        working.
      </p>
      <ChangeProgress changed={changed} all={refs.length} />
    </FormDialog>
  )
}

function ChangeDialog({ fields, ...props }: ChangesProps & { fields: FieldPaths }) {
  const { refs } = props
  const [field, setField] = useState('')
  const [text, setText] = useState('')
  const { changed, isRunning, run, close } = useChanges(props)
  const list = useId()
  const value = text.trim() === '' ? null : valueOfText(text)
  return (
    <FormDialog
      title={`Change ${refs.length} documents`}
      submit={`Change ${refs.length} documents`}
      isReady={field.trim() !== '' && !isRunning}
      onClose={close}
      onSubmit={signal => run(settingOf(pathOf(field.trim(), fields), value), signal)}
    >
      <Field label="Field" value={field} onInput={setField} hasFocus isMono list={list} />
      <datalist id={list}>
        {[...fields.keys()].map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field
        label="New value"
        value={text}
        onInput={setText}
        isMono
        hint={
          value === null
            ? 'Empty: the field is taken away.'
            : `It will be stored as ${typeNamed(value)}. A text that looks like something else goes into quotes.`
        }
      />
      <ChangeProgress changed={changed} all={refs.length} />
    </FormDialog>
  )
}
