// A dialog that sets the password of a user.

import { useState } from 'preact/hooks'
import type { DocumentName } from '../service/documents.ts'
import { readUser, setPassword } from '../service/users.ts'
import { FormDialog } from './dialog.tsx'
import { Field } from './fields.tsx'
import { LoadedContent, reloadIfChanged, useLoad } from './load.tsx'
import { localTime } from './time.tsx'

interface PasswordProps {
  readonly user: DocumentName
  readonly hint?: string
  readonly onClose: () => void
  readonly onDone: () => void
}

/** The caller closes the dialog in `onDone`. */
export function PasswordDialog({ user, hint, onClose, onDone }: PasswordProps) {
  const [password, setText] = useState('')
  const stored = useLoad(signal => readUser(user, signal), [user.collection, user.id])
  return (
    <FormDialog
      title={`Password of ${user.collection}/${user.id}`}
      submit="Set password"
      isReady={password !== '' && stored.data !== undefined}
      onClose={onClose}
      onSubmit={async signal => {
        await setPassword(user, password, stored.data?.passwordSet, signal).catch(
          reloadIfChanged(stored.reload),
        )
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
      <LoadedContent of={stored}>
        {({ passwordSet }) => (
          <p class="hint">
            {passwordSet === undefined
              ? 'This user has no password yet.'
              : `This replaces the password that was set at ${localTime(Number(passwordSet / 1000n))}.`}
          </p>
        )}
      </LoadedContent>
    </FormDialog>
  )
}
