// The state of a form that edits a stored object, such as a document or a role: the version that was read, the draft,
// and after a conflict the version of the other client.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import type { SaveOutcome } from '../service/checked-writes.ts'
import { Button } from './button.tsx'
import { Diff } from './diff.tsx'
import { type Action, useAction } from './load.tsx'
import { Notice, Problem } from './problem.tsx'

interface EditFormOptions<V, D> {
  /** Newest version that the page has read. */
  readonly loaded: V
  /** Identifies a version, for example by its transaction time. */
  readonly identityOf: (version: V) => unknown
  readonly draftOf: (version: V) => D
  readonly isSame: (draft: D, version: V) => boolean
  /** Saves the draft if the stored version is still `base`. */
  readonly save: (draft: D, base: V, signal: AbortSignal) => Promise<SaveOutcome<V>>
  /** Merges the changes from `base` to `theirs` into a draft. Without this function, the draft stays unchanged. */
  readonly rebase?: (draft: D, base: V, theirs: V) => D
  readonly onSaved?: (version: V) => void
}

interface EditForm<V, D> {
  readonly base: V
  readonly draft: D
  readonly isDirty: boolean
  /** A version that another client has saved in the meantime. The user must choose a version. */
  readonly theirs: V | undefined
  readonly notice: string | undefined
  readonly action: Action
  /** Sets the draft to the input of the user. */
  readonly change: (draft: D) => void
  /** Replaces the draft with an equivalent one, for example in another notation. */
  readonly present: (draft: D) => void
  /** Saves the draft. After a conflict, this overwrites the version in `theirs`, which the user has seen. */
  readonly save: () => void
  /** Replaces the draft with `theirs`, or without a conflict with the version that was read. */
  readonly discard: () => void
}

/** Leaving the page with unsaved input asks for confirmation. */
export function useEditForm<V, D>(options: EditFormOptions<V, D>): EditForm<V, D> {
  const { loaded, identityOf, draftOf, isSame, rebase, onSaved } = options
  const [base, setBase] = useState(loaded)
  const [draft, setDraft] = useState(() => draftOf(loaded))
  const [isTouched, setTouched] = useState(false)
  const [theirs, setTheirs] = useState<V | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const action = useAction()
  const isDirty = isTouched && !isSame(draft, base)
  useEffect(() => guard(() => isDirty), [isDirty])
  const reset = (version: V) => {
    setBase(version)
    setDraft(draftOf(version))
    setTheirs(undefined)
    setTouched(false)
  }
  const noteConflict = (version: V) => {
    setTheirs(version)
    if (rebase) setDraft(rebase(draft, theirs ?? base, version))
  }
  // A newly read version replaces a draft without unsaved input.
  useEffect(() => {
    if (identityOf(loaded) === identityOf(base)) return
    if (isDirty) noteConflict(loaded)
    else reset(loaded)
  }, [loaded])
  const save = () =>
    action.start(async signal => {
      setNotice(undefined)
      const saved = await options.save(draft, theirs ?? base, signal)
      if (saved.kind === 'gone')
        throw new Error(
          'This object was deleted or renamed in the meantime. Copy the text that you need before you leave this page.',
        )
      if (saved.kind === 'conflict') noteConflict(saved.theirs)
      else {
        reset(saved.version)
        setNotice('Saved.')
        onSaved?.(saved.version)
      }
    })
  return {
    base,
    draft,
    isDirty,
    theirs,
    notice,
    action,
    save,
    change: changed => {
      setTouched(true)
      setNotice(undefined)
      setDraft(changed)
    },
    present: setDraft,
    discard: () => {
      action.clear()
      reset(theirs ?? base)
    },
  }
}

interface FormFooterProps<V, D> {
  readonly of: EditForm<V, D>
  /** The words for the object in a sentence, such as "this role". */
  readonly what: string
  /** Text for comparisons, of a version and of a draft. */
  readonly textOf: (version: V) => string
  readonly draftText: (draft: D) => string
  readonly isReadOnly: boolean
  /** Label of the button that saves. */
  readonly submit?: string
  /** The buttons are in a `form` element whose submit event saves. */
  readonly isInForm?: boolean
  /** Further buttons. */
  readonly children?: ComponentChildren
}

/** Lower part of the form: its error, the choice after a conflict, its buttons, and the confirmation. */
export function FormFooter<V, D>({
  of,
  what,
  textOf,
  draftText,
  isReadOnly,
  submit = 'Save',
  isInForm = false,
  children,
}: FormFooterProps<V, D>) {
  const { action, theirs, isDirty, save, discard, notice } = of
  return (
    <>
      {action.error && <Problem error={action.error} />}
      {theirs !== undefined && (
        <div class="conflict">
          <p class="problem" role="alert">
            Another user has changed {what} in the meantime. Nothing was overwritten. Compare the versions,
            then choose one.
          </p>
          <Diff
            left={textOf(theirs)}
            right={draftText(of.draft)}
            leftName="Their version (stored now)"
            rightName="Your version"
          />
          <div class="form-buttons">
            <Button onClick={discard}>Use their version</Button>
            <Button class="danger" disabled={action.isRunning} onClick={save}>
              Overwrite with my version
            </Button>
          </div>
        </div>
      )}
      {!isReadOnly && theirs === undefined && (
        <div class="form-buttons">
          <button
            type={isInForm ? 'submit' : 'button'}
            class="primary"
            disabled={!isDirty || action.isRunning}
            onClick={isInForm ? undefined : save}
          >
            {action.isRunning ? 'Saving…' : submit}
          </button>
          {isDirty && <Button onClick={discard}>Discard changes</Button>}
          {children}
        </div>
      )}
      <Notice text={notice} />
    </>
  )
}
