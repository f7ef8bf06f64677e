// A form over a version of something that others may change meanwhile: what was read, what it is to be, and, when
// somebody else was faster, what they have made of it. Every form that changes what is stored is one of these.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import type { Saved } from '../service/checked.ts'
import { Diff } from './diff.tsx'
import { type Action, useAction } from './load.tsx'
import { Notice, Problem } from './problem.tsx'

interface EditedOptions<V, D> {
  /** The newest version that the page has read. */
  readonly loaded: V
  /** Tells versions apart: the transaction time. */
  readonly timeOf: (version: V) => unknown
  readonly draftOf: (version: V) => D
  /** Whether a draft says what a version says. */
  readonly isSame: (draft: D, version: V) => boolean
  /** Writes `draft`, unless what is stored is not `base` any more. */
  readonly save: (draft: D, base: V, signal: AbortSignal) => Promise<Saved<V>>
  /** A draft over `base` as one over `theirs`: what only they have changed is theirs. Without it the draft stays whole. */
  readonly rebase?: (draft: D, base: V, theirs: V) => D
  readonly onSaved?: (version: V) => void
}

/** What such a form shows and does. */
interface Edited<V, D> {
  readonly base: V
  readonly draft: D
  readonly isDirty: boolean
  /** What somebody else has saved meanwhile; the person has to choose. */
  readonly theirs: V | undefined
  readonly notice: string | undefined
  readonly action: Action
  /** Takes up what a person has entered. */
  readonly change: (draft: D) => void
  /** Shows the same in another way, such as another notation. */
  readonly present: (draft: D) => void
  /** Saves; over what somebody else has saved once that is shown. */
  readonly save: () => void
  /** Takes theirs where there is one, or else what was read. */
  readonly discard: () => void
}

/** The state of a form over a version. Pages with input that is not saved ask before they are left. */
export function useEdited<V, D>(options: EditedOptions<V, D>): Edited<V, D> {
  const { loaded, timeOf, draftOf, isSame, rebase, onSaved } = options
  const [base, setBase] = useState(loaded)
  const [draft, setDraft] = useState(() => draftOf(loaded))
  const [isTouched, setTouched] = useState(false)
  const [theirs, setTheirs] = useState<V | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const action = useAction()
  const isDirty = isTouched && !isSame(draft, base)
  useEffect(() => guard(() => isDirty), [isDirty])
  const take = (version: V) => {
    setBase(version)
    setDraft(draftOf(version))
    setTheirs(undefined)
    setTouched(false)
  }
  const meet = (version: V) => {
    setTheirs(version)
    if (rebase) setDraft(rebase(draft, theirs ?? base, version))
  }
  // What was read anew is shown at once, unless there is input that it would take away.
  useEffect(() => {
    if (timeOf(loaded) === timeOf(base)) return
    if (isDirty) meet(loaded)
    else take(loaded)
  }, [loaded])
  const save = () =>
    action.start(async signal => {
      setNotice(undefined)
      const saved = await options.save(draft, theirs ?? base, signal)
      if (saved.kind === 'gone')
        throw new Error('It has been deleted or renamed meanwhile. Copy what you need.')
      if (saved.kind === 'conflict') meet(saved.theirs)
      else {
        take(saved.version)
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
      take(theirs ?? base)
    },
  }
}

interface OutcomeProps<V, D> {
  readonly of: Edited<V, D>
  /** What it is, in a sentence: "this role". */
  readonly what: string
  /** A version and a draft as texts that can be compared. */
  readonly textOf: (version: V) => string
  readonly draftText: (draft: D) => string
  readonly isReadOnly: boolean
  /** What the button says that saves. */
  readonly submit?: string
  /** Whether it is the foot of a form, which saves when it is submitted: by the button, or by Enter in a field. */
  readonly isInForm?: boolean
  /** Further buttons. */
  readonly children?: ComponentChildren
}

/** The foot of such a form: its error, the choice after a conflict, its buttons, and that it was saved. */
export function Outcome<V, D>({
  of,
  what,
  textOf,
  draftText,
  isReadOnly,
  submit = 'Save',
  isInForm = false,
  children,
}: OutcomeProps<V, D>) {
  const { action, theirs, isDirty, save, discard, notice } = of
  return (
    <>
      {action.error && <Problem error={action.error} />}
      {theirs !== undefined && (
        <div class="conflict">
          <p class="problem" role="alert">
            Somebody else has changed {what} meanwhile. Nothing of theirs was overwritten: compare, then
            choose.
          </p>
          <Diff
            left={textOf(theirs)}
            right={draftText(of.draft)}
            leftName="Theirs, as it is now"
            rightName="What yours would make of it"
          />
          <div class="form-buttons">
            <button type="button" onClick={discard}>
              Take theirs
            </button>
            <button type="button" class="danger" disabled={action.isRunning} onClick={save}>
              Overwrite with mine
            </button>
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
          {isDirty && (
            <button type="button" onClick={discard}>
              Discard changes
            </button>
          )}
          {children}
        </div>
      )}
      <Notice text={notice} />
    </>
  )
}
