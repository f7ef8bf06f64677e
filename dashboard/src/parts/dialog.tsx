// Modal dialogs. The browser confines the focus to a `dialog` element, and closes the element on Escape.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { guard } from '../router.ts'
import { Button } from './button.tsx'
import { Field } from './fields.tsx'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
  /**
   * Called before Escape, a click outside or ✕ closes the dialog. Returns a question for the user; undefined closes the
   * dialog at once.
   */
  readonly question?: () => string | undefined
  readonly class?: string
}

/** The dialog is open while it is rendered. */
export function Dialog({ title, onClose, children, isWide, question, class: kind = '' }: DialogProps) {
  const id = useId()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  const tryToClose = () => {
    const message = question?.()
    if (message === undefined || confirm(message)) onClose()
    // Browsers close a dialog at the second Escape, even if the page cancels the event.
    else if (element.current?.open === false) element.current.showModal()
  }
  return (
    <dialog
      ref={element}
      class={`dialog ${isWide ? 'wide' : ''} ${kind}`.trim()}
      aria-labelledby={id}
      onClose={tryToClose}
      onCancel={event => {
        event.preventDefault()
        tryToClose()
      }}
      onPointerDown={event => {
        const dialog = event.currentTarget
        if (event.target === dialog && isOutside(event, dialog)) tryToClose()
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button class="quiet" aria-label="Close" onClick={tryToClose}>
          ✕
        </Button>
      </header>
      {children}
    </dialog>
  )
}

/** Returns whether a click was on the backdrop, outside the dialog. */
function isOutside({ clientX, clientY }: PointerEvent, dialog: HTMLDialogElement): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

interface FormDialogProps {
  readonly title: string
  readonly submit: string
  readonly isDangerous?: boolean
  readonly isWide?: boolean
  readonly isReady?: boolean
  /** The user cannot lose input by closing the dialog. */
  readonly hasNoInput?: boolean
  readonly onClose: () => void
  readonly onSubmit: (signal: AbortSignal) => Promise<void>
  readonly children: ComponentChildren
}

/** Shows submission errors, and asks for confirmation before the user loses input, except by the button Cancel. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    submit,
    isDangerous,
    isReady = true,
    onClose,
    onSubmit,
    children,
    isWide,
    hasNoInput,
  } = props
  const action = useAction()
  const isTouched = useRef(false)
  useEffect(() => guard(() => isTouched.current), [])
  const touch = () => {
    isTouched.current = !hasNoInput
  }
  const send = async (signal: AbortSignal) => {
    isTouched.current = false
    try {
      await onSubmit(signal)
    } catch (cause) {
      touch()
      throw cause
    }
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isWide={isWide}
      question={() => (isTouched.current ? 'Close? Your input will be lost.' : undefined)}
    >
      <form
        onInput={touch}
        onChange={touch}
        onSubmit={event => {
          event.preventDefault()
          if (isReady && !action.isRunning) action.start(send)
        }}
      >
        <div class="dialog-body">
          {children}
          {action.error && <Problem error={action.error} />}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <button
            type="submit"
            class={isDangerous ? 'danger' : 'primary'}
            disabled={!isReady || action.isRunning}
          >
            {action.isRunning ? 'Working…' : submit}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly warning: ComponentChildren
  readonly submit: string
  /** The text that the user must type first. By default, the user types nothing. */
  readonly typed?: string
  /** False while data that {@link onConfirm} needs is loading. The default is true. */
  readonly isReady?: boolean
  readonly onClose: () => void
  readonly onConfirm: (signal: AbortSignal) => Promise<void>
}

/** Asks for a confirmation before an action that deletes or replaces data. */
export function Confirm(props: ConfirmProps) {
  const { title, warning, submit, typed, isReady = true, onClose, onConfirm } = props
  const [text, setText] = useState('')
  return (
    <FormDialog
      title={title}
      submit={submit}
      isDangerous
      isReady={isReady && (typed === undefined || text === typed)}
      hasNoInput
      onClose={onClose}
      onSubmit={onConfirm}
    >
      <p>{warning}</p>
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`} value={text} onInput={setText} hasFocus isMono />
      )}
    </FormDialog>
  )
}
