// Asks for a new password of a user and sets it.

import { useState } from 'preact/hooks'
import { type DocumentName, setPassword } from '../service/documents.ts'
import { FormDialog } from './dialog.tsx'
import { Field } from './fields.tsx'

interface PasswordProps {
  /** The document that stands for the user. */
  readonly user: DocumentName
  readonly hint?: string
  readonly onClose: () => void
  readonly onDone: () => void
}

/** The dialog; closed by whoever shows it. */
export function PasswordDialog({ user, hint, onClose, onDone }: PasswordProps) {
  const [password, setText] = useState('')
  return (
    <FormDialog
      title={`Password of ${user.collection}/${user.id}`}
      submit="Set password"
      isReady={password !== ''}
      onClose={onClose}
      onSubmit={async signal => {
        await setPassword(user, password, signal)
        onDone()
      }}
    >
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        value={password}
        onInput={setText}
        isRequired
        hasFocus
        hint={hint}
      />
    </FormDialog>
  )
}
