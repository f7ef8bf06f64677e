// Dialogs: the browser's own modal dialog, which keeps the focus inside and closes with Escape.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Field } from './fields.tsx'
import { type Action, useAction } from './load.tsx'
import { Problem } from './problem.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

/** A modal dialog; it is open as long as it is rendered. */
export function Dialog({ title, onClose, children, isWide }: DialogProps) {
  const id = useId()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={isWide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onClose={onClose}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}

interface FormDialogProps {
  readonly title: string
  readonly submit: string
  readonly isDangerous?: boolean
  readonly isWide?: boolean
  readonly isReady?: boolean
  readonly onClose: () => void
  readonly onSubmit: (signal: AbortSignal) => Promise<void>
  readonly children: ComponentChildren
}

/** A dialog with a form; errors of its submission are shown in it. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, isDangerous, isReady = true, onClose, onSubmit, children, isWide } = props
  const action = useAction()
  return (
    <Dialog title={title} onClose={onClose} isWide={isWide}>
      <form
        onSubmit={event => {
          event.preventDefault()
          if (isReady && !action.isRunning) action.start(onSubmit)
        }}
      >
        <div class="dialog-body">
          {children}
          {action.error && <Problem error={action.error} />}
        </div>
        <DialogButtons
          submit={submit}
          isDangerous={isDangerous}
          isReady={isReady}
          action={action}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

interface ButtonsProps extends Pick<FormDialogProps, 'submit' | 'isDangerous' | 'isReady' | 'onClose'> {
  readonly action: Action
}

function DialogButtons({ submit, isDangerous, isReady, action, onClose }: ButtonsProps) {
  return (
    <footer class="dialog-foot">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button
        type="submit"
        class={isDangerous ? 'danger' : 'primary'}
        disabled={!isReady || action.isRunning}
      >
        {action.isRunning ? 'Working…' : submit}
      </button>
    </footer>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly warning: ComponentChildren
  readonly submit: string
  /** What has to be typed before it can be done; nothing when absent. */
  readonly typed?: string
  readonly onClose: () => void
  readonly onConfirm: (signal: AbortSignal) => Promise<void>
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, warning, submit, typed, onClose, onConfirm }: ConfirmProps) {
  const [text, setText] = useState('')
  return (
    <FormDialog
      title={title}
      submit={submit}
      isDangerous
      isReady={typed === undefined || text === typed}
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
