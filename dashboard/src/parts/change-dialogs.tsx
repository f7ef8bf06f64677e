// Dialogs that delete or change many documents, with the number of documents and the progress. The user can stop and
// continue the change.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import { pathOf } from '../service/conditions.ts'
import {
  type Change,
  type ChangeFailure,
  type ChangeState,
  type ChangeTarget,
  changeEach,
  deletion,
  initialChangeState,
  isComplete,
  settingOf,
} from '../service/row-changes.ts'
import { valueOfText } from '../service/typed-value.ts'
import { type Json, writeJson } from '../wire/json.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { typeNameOf } from '../wire/type-names.ts'
import { Button } from './button.tsx'
import { download } from './copy.tsx'
import { FormDialog } from './dialog.tsx'
import { Field } from './fields.tsx'
import { documentsText } from './quantities.ts'

interface ChangesProps {
  readonly target: ChangeTarget
  readonly onClose: () => void
  /** Receives the result in words, even if some documents failed. */
  readonly onDone: (text: string) => void
  /** Content above the form, such as the filter. */
  readonly children?: ComponentChildren
}

interface Changes {
  readonly state: ChangeState | undefined
  readonly isRunning: boolean
  readonly run: (change: Change, signal: AbortSignal) => Promise<void>
  /** Stops after the current transaction, so that its result is known. */
  readonly stop: () => void
  readonly close: () => void
}

/** Runs a change of many documents. The dialog stays open if the change of a document has failed. */
function useChanges({ target, onClose, onDone }: ChangesProps, word: 'changed' | 'deleted'): Changes {
  const [state, setState] = useState<ChangeState | undefined>(undefined)
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  // A stopped change continues if the input, and thus the query in `key`, is the same as before. With other input, a
  // new change starts.
  const begun = useRef<{ readonly key: string; readonly state: ChangeState } | undefined>(undefined)
  useEffect(() => guard(() => isRunning), [isRunning])
  const run = async (change: Change, signal: AbortSignal) => {
    const key = writeJson(change.change(null))
    const before = begun.current
    let now = before?.key === key && !isComplete(before.state) ? before.state : initialChangeState
    isStopped.current = false
    setRunning(true)
    setState(now)
    try {
      for await (const next of changeEach(target, change, now, signal)) {
        now = next
        begun.current = { key, state: now }
        setState(now)
        if (isStopped.current && !isComplete(now)) return
      }
    } finally {
      setRunning(false)
    }
    if (now.failures.length > 0) throw new Error(failuresText(now))
    onClose()
    onDone(resultText(now, word))
  }
  const stop = () => {
    isStopped.current = true
  }
  /** Reports the changes made so far. */
  const close = () => {
    onClose()
    if (state !== undefined) onDone(resultText(state, word))
  }
  return { state, isRunning, run, stop, close }
}

function resultText({ done, skipped, failures }: ChangeState, word: string): string {
  const parts = [`${documentsText(done)} ${word}`]
  if (skipped > 0) parts.push(`${skipped} skipped, because they needed no change or no longer match`)
  if (failures.length > 0) parts.push(`${failures.length} failed`)
  return `${parts.join('; ')}.`
}

const shownMax = 10

const failureLine = ({ ref, reason }: ChangeFailure) => `${ref.collection}/${ref.id}: ${reason}`

function failuresText({ done, skipped, failures }: ChangeState): string {
  const count = failures.length
  const more = count > shownMax ? [`and ${count - shownMax} more`] : []
  return [
    `${count} of ${done + skipped + count} documents failed; all other documents were processed.`,
    ...failures.slice(0, shownMax).map(failureLine),
    ...more,
  ].join('\n')
}

interface ProgressProps {
  readonly changes: Changes
  readonly count: number | undefined
}

function ChangeProgress({ changes, count }: ProgressProps) {
  const { state, isRunning, stop } = changes
  if (state === undefined) return null
  const { done, skipped, failures } = state
  const tried = done + skipped + failures.length
  // Concurrent writes may have added documents since the count.
  const all = Math.max(count ?? 0, tried)
  const more = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(failures.length > 0 ? [`${failures.length} failed`] : []),
  ]
  const save = () => {
    const text = failures.map(each => `${failureLine(each).replaceAll(/\s*\n\s*/g, ' ')}\n`).join('')
    download('errors.txt', 'text/plain', [new Blob([text])])
  }
  return (
    <>
      <p role="status">
        <progress aria-label="Documents done" value={tried} max={all} />{' '}
        {[`${done} of ${all} done`, ...more].join(', ')}
      </p>
      {isRunning && <Button onClick={stop}>Stop</Button>}
      {!isRunning && !isComplete(state) && (
        <p class="hint">Continue resumes where the change was stopped. Completed changes are kept.</p>
      )}
      {!isRunning && failures.length > shownMax && (
        <Button onClick={save}>Download all {failures.length} errors</Button>
      )}
    </>
  )
}

const targetText = (count: number | undefined) => (count === undefined ? 'documents' : documentsText(count))

/** Label of the submit button, which continues a stopped change. */
function submitText({ state, isRunning }: Changes, verb: string, count: number | undefined): string {
  const isStopped = state !== undefined && !isRunning && !isComplete(state)
  return isStopped ? 'Continue' : `${verb} ${targetText(count)}`
}

interface DeleteDialogProps extends ChangesProps {
  /** The text that the user must type to enable the button. Without a text, the button is enabled at once. */
  readonly typed?: string | undefined
}

export function DeleteDialog({ typed, ...props }: DeleteDialogProps) {
  const { count } = props.target
  const [text, setText] = useState('')
  const changes = useChanges(props, 'deleted')
  return (
    <FormDialog
      title={`Delete ${targetText(count)}?`}
      submit={submitText(changes, 'Delete', count)}
      isDangerous
      isReady={!changes.isRunning && count !== undefined && (typed === undefined || text === typed)}
      hasNoInput
      onClose={changes.close}
      onSubmit={signal => changes.run(deletion, signal)}
    >
      {props.children}
      <p>
        You can restore the documents on the page Deleted for as long as the collection keeps history. The
        tokens of deleted users stop working.
      </p>
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`} value={text} onInput={setText} hasFocus isMono />
      )}
      <ChangeProgress changes={changes} count={count} />
    </FormDialog>
  )
}

export function ChangeDialog({ fields, ...props }: ChangesProps & { readonly fields: FieldPaths }) {
  const { count } = props.target
  const [field, setField] = useState('')
  const [text, setText] = useState('')
  const changes = useChanges(props, 'changed')
  const value: Json = text.trim() === '' ? null : valueOfText(text)
  return (
    <FormDialog
      title={`Change ${targetText(count)}`}
      submit={submitText(changes, 'Change', count)}
      isReady={field.trim() !== '' && !changes.isRunning && count !== undefined}
      onClose={changes.close}
      onSubmit={signal => changes.run(settingOf(pathOf(field.trim(), fields), value), signal)}
    >
      {props.children}
      <Field
        label="Field"
        value={field}
        onInput={setField}
        hasFocus
        isMono
        suggestions={[...fields.keys()]}
      />
      <Field
        label="New value"
        value={text}
        onInput={setText}
        isMono
        hint={
          value === null
            ? 'Leave this empty to remove the field.'
            : `Stored as ${typeNameOf(value)}. Use quotes for text that looks like another type.`
        }
      />
      <ChangeProgress changes={changes} count={count} />
    </FormDialog>
  )
}
