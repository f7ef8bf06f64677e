// Dialogs that delete or change many documents: they say how many, show how far it is, and can be stopped and continued.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import { pathOf } from '../service/conditions.ts'
import {
  type Change,
  type ChangeState,
  type ChangeTarget,
  changeEach,
  deletion,
  isComplete,
  notBegun,
  type Refused,
  settingOf,
} from '../service/row-changes.ts'
import { valueOfText } from '../service/typed-value.ts'
import { type Json, writeJson } from '../wire/json.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { typeNamed } from '../wire/type-names.ts'
import { download } from './copy.tsx'
import { FormDialog } from './dialog.tsx'
import { Field } from './fields.tsx'

interface ChangesProps {
  readonly target: ChangeTarget
  readonly onClose: () => void
  /** Called when something was changed, or tried, with the result in words. */
  readonly onDone: (text: string) => void
  /** Told above the form, such as what finds the documents. */
  readonly children?: ComponentChildren
}

interface Changes {
  readonly state: ChangeState | undefined
  readonly isRunning: boolean
  readonly run: (change: Change, signal: AbortSignal) => Promise<void>
  /** Ends after the transaction under way, whose result is known then. */
  readonly stop: () => void
  readonly close: () => void
}

/** Runs a change over documents; what was refused stays on the screen. */
function useChanges({ target, onClose, onDone }: ChangesProps, word: 'changed' | 'deleted'): Changes {
  const [state, setState] = useState<ChangeState | undefined>(undefined)
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  // The input may differ each time: only the same change continues.
  const begun = useRef<{ readonly key: string; readonly state: ChangeState } | undefined>(undefined)
  useEffect(() => guard(() => isRunning), [isRunning])
  const run = async (change: Change, signal: AbortSignal) => {
    const key = writeJson(change.change(null))
    const before = begun.current
    let now = before?.key === key && !isComplete(before.state) ? before.state : notBegun
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
    if (now.refused.length > 0) throw new Error(refusalText(now))
    onClose()
    onDone(resultText(now, word))
  }
  const stop = () => {
    isStopped.current = true
  }
  /** Closing shows what was done until then. */
  const close = () => {
    onClose()
    if (state !== undefined) onDone(resultText(state, word))
  }
  return { state, isRunning, run, stop, close }
}

function resultText({ done, skipped, refused }: ChangeState, word: string): string {
  const parts = [`${done} ${done === 1 ? 'document' : 'documents'} ${word}`]
  if (skipped > 0) parts.push(`${skipped} skipped, because they needed no change or match no more`)
  if (refused.length > 0) parts.push(`${refused.length} refused`)
  return `${parts.join('; ')}.`
}

const shownMax = 10

const refusedLine = ({ ref, reason }: Refused) => `${ref.collection}/${ref.id}: ${reason}`

function refusalText({ done, skipped, refused }: ChangeState): string {
  const count = refused.length
  const more = count > shownMax ? [`and ${count - shownMax} more`] : []
  return [
    `${count} of ${done + skipped + count} documents were refused; the others are done.`,
    ...refused.slice(0, shownMax).map(refusedLine),
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
  const { done, skipped, refused } = state
  const tried = done + skipped + refused.length
  // Writes meanwhile may have added documents.
  const all = Math.max(count ?? 0, tried)
  const more = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
  ]
  const save = () => {
    const text = refused.map(each => `${refusedLine(each).replaceAll(/\s*\n\s*/g, ' ')}\n`).join('')
    download('refused.txt', 'text/plain', [new Blob([text])])
  }
  return (
    <>
      <p role="status">
        <progress aria-label="Documents done" value={tried} max={all} />{' '}
        {[`${done} of ${all} done`, ...more].join(', ')}
      </p>
      {isRunning && (
        <button type="button" onClick={stop}>
          Stop
        </button>
      )}
      {!isRunning && !isComplete(state) && (
        <p class="hint">It continues where it was stopped. What is done stays done.</p>
      )}
      {!isRunning && refused.length > shownMax && (
        <button type="button" onClick={save}>
          Download all {refused.length} refusals
        </button>
      )}
    </>
  )
}

const documentsText = (count: number | undefined) =>
  count === undefined ? 'documents' : `${count} ${count === 1 ? 'document' : 'documents'}`

/** The word on the button: a change that was stopped is continued by it. */
function submitText({ state, isRunning }: Changes, verb: string, count: number | undefined): string {
  const isStopped = state !== undefined && !isRunning && !isComplete(state)
  return isStopped ? 'Continue' : `${verb} ${documentsText(count)}`
}

interface DeleteDialogProps extends ChangesProps {
  /** Text that the user types before the button is enabled; no text when absent. */
  readonly typed?: string | undefined
}

/** Deletes documents. */
export function DeleteDialog({ typed, ...props }: DeleteDialogProps) {
  const { count } = props.target
  const [text, setText] = useState('')
  const changes = useChanges(props, 'deleted')
  return (
    <FormDialog
      title={`Delete ${documentsText(count)}?`}
      submit={submitText(changes, 'Delete', count)}
      isDangerous
      isReady={!changes.isRunning && count !== undefined && (typed === undefined || text === typed)}
      holdsNothing
      onClose={changes.close}
      onSubmit={signal => changes.run(deletion, signal)}
    >
      {props.children}
      <p>
        Their versions stay in the history for as long as the collection keeps them. Of users, tokens stop
        working.
      </p>
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`} value={text} onInput={setText} hasFocus isMono />
      )}
      <ChangeProgress changes={changes} count={count} />
    </FormDialog>
  )
}

/** Sets a field of documents. */
export function ChangeDialog({ fields, ...props }: ChangesProps & { readonly fields: FieldPaths }) {
  const { count } = props.target
  const [field, setField] = useState('')
  const [text, setText] = useState('')
  const changes = useChanges(props, 'changed')
  const list = useId()
  const value: Json = text.trim() === '' ? null : valueOfText(text)
  return (
    <FormDialog
      title={`Change ${documentsText(count)}`}
      submit={submitText(changes, 'Change', count)}
      isReady={field.trim() !== '' && !changes.isRunning && count !== undefined}
      onClose={changes.close}
      onSubmit={signal => changes.run(settingOf(pathOf(field.trim(), fields), value), signal)}
    >
      {props.children}
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
      <ChangeProgress changes={changes} count={count} />
    </FormDialog>
  )
}
