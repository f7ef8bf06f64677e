// The section Login of a document's page: the password of the document, and its tokens.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm, FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { LoadedContent, reloadIfChanged, useLoad } from '../parts/load.tsx'
import { PasswordDialog } from '../parts/password-dialog.tsx'
import { Notice } from '../parts/problem.tsx'
import { buttons, Table } from '../parts/table.tsx'
import { Instant, instantOf } from '../parts/time.tsx'
import { addressOf } from '../router.ts'
import type { DocumentName } from '../service/documents.ts'
import { ServiceError } from '../service/faults.ts'
import { deleteSchema } from '../service/schema.ts'
import { logInAs, readUser, revokeAll, type UserToken } from '../service/users.ts'
import { canLimitSecret } from '../session.ts'
import { SecretDialog } from './keys.tsx'

type OpenDialog =
  | { readonly kind: 'password' | 'log in' | 'revoke all' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'revoke'; readonly token: UserToken }

/** Renders nothing for callers who may not read passwords and tokens. */
export function UserAccess({ name }: { name: DocumentName }) {
  const [dialog, setDialog] = useState<OpenDialog | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const { collection, id } = name
  const user = useLoad(signal => readUser(name, signal), [collection, id])
  const done = (text?: string) => {
    setDialog(undefined)
    setNotice(text)
    user.reload()
  }
  // Some callers may read documents, but neither passwords nor tokens.
  if (user.error instanceof ServiceError && user.error.status === 403) return null
  return (
    <section class="user-access" aria-labelledby="login">
      <h2 id="login">Login</h2>
      <LoadedContent of={user}>
        {({ passwordSet, tokens, isMore }) => (
          <>
            <p>
              {passwordSet === undefined ? (
                'This document has no password. If it represents a user, set a password so that the user can log in.'
              ) : (
                <>
                  This user has a password, set <Instant micros={passwordSet} />.
                </>
              )}
            </p>
            <div class="form-buttons">
              <Button onClick={() => setDialog({ kind: 'password' })}>Set password</Button>
              <Button onClick={() => setDialog({ kind: 'log in' })}>Log in as this user</Button>
              {canLimitSecret.value && (
                <a class="button" href={addressOf(['shell'], { as: `${collection}/${id}` })}>
                  Run queries as this user
                </a>
              )}
            </div>
            <UserTokens tokens={tokens} isMore={isMore} onDialog={setDialog} />
          </>
        )}
      </LoadedContent>
      <Notice text={notice} />
      {dialog && (
        <UserDialog name={name} dialog={dialog} onDialog={setDialog} onDone={done} onChanged={user.reload} />
      )}
    </section>
  )
}

interface TokensProps {
  readonly tokens: readonly UserToken[]
  readonly isMore: boolean
  readonly onDialog: (dialog: OpenDialog) => void
}

function UserTokens({ tokens, isMore, onDialog }: TokensProps) {
  if (tokens.length === 0) return <p class="empty">This user has no tokens. Each login creates a token.</p>
  return (
    <>
      <Table label="Tokens of this user" columns={['Token', 'Created', 'Expires', buttons('Actions')]}>
        {tokens.map(token => (
          <tr key={token.id}>
            <td>
              <a href={addressOf(['tokens', token.id])}>{token.id}</a>
            </td>
            <td>
              <Instant micros={token.ts} />
            </td>
            <td>{token.expires ?? 'never'}</td>
            <td>
              <Button class="danger-quiet" onClick={() => onDialog({ kind: 'revoke', token })}>
                Revoke<span class="unseen"> {token.id}</span>
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      {isMore && (
        <p class="hint">
          Only the first {tokens.length} tokens are shown. “Revoke all” also revokes the tokens that are not
          shown.
        </p>
      )}
      <div class="form-buttons">
        <Button class="danger-quiet" onClick={() => onDialog({ kind: 'revoke all' })}>
          Revoke all
        </Button>
      </div>
    </>
  )
}

interface DialogProps {
  readonly name: DocumentName
  readonly dialog: OpenDialog
  readonly onDialog: (dialog: OpenDialog | undefined) => void
  readonly onDone: (notice?: string) => void
  /** Called when another client has changed the token in the meantime. */
  readonly onChanged: () => void
}

function UserDialog({ name, dialog, onDialog, onDone, onChanged }: DialogProps) {
  const close = () => onDialog(undefined)
  switch (dialog.kind) {
    case 'password':
      return (
        <PasswordDialog
          user={name}
          hint="The service stores only a hash. Existing tokens stay valid: revoke them to log the user out."
          onClose={close}
          onDone={() => onDone('The password was set.')}
        />
      )
    case 'log in':
      return (
        <LogInDialog name={name} onClose={close} onCreated={secret => onDialog({ kind: 'secret', secret })} />
      )
    case 'secret':
      return <SecretDialog title="Token created" secret={dialog.secret} onClose={() => onDone()} />
    case 'revoke':
      return (
        <Confirm
          title={`Revoke the token ${dialog.token.id}?`}
          warning="Programs that use this token are logged out at once."
          submit="Revoke token"
          onClose={close}
          onConfirm={async signal => {
            await deleteSchema('tokens', dialog.token.id, dialog.token.ts, signal).catch(
              reloadIfChanged(onChanged),
            )
            onDone()
          }}
        />
      )
    case 'revoke all':
      return (
        <Confirm
          title={`Revoke all tokens of ${name.collection}/${name.id}?`}
          warning="This user is logged out everywhere at once."
          submit="Revoke all tokens"
          onClose={close}
          onConfirm={async signal => {
            await revokeAll(name, signal)
            onDone()
          }}
        />
      )
  }
}

interface LogInProps {
  readonly name: DocumentName
  readonly onClose: () => void
  readonly onCreated: (secret: string) => void
}

function LogInDialog({ name, onClose, onCreated }: LogInProps) {
  const [expires, setExpires] = useState('')
  return (
    <FormDialog
      title={`Log in as ${name.collection}/${name.id}`}
      submit="Create token"
      onClose={onClose}
      onSubmit={async signal =>
        onCreated(await logInAs(name, expires === '' ? '' : instantOf(expires), signal))
      }
    >
      <p>
        This creates a token. The password of the user is not needed. Requests with the secret of the token
        have the rights of this user.
      </p>
      <Field
        label="Expires"
        type="datetime-local"
        value={expires}
        onInput={setExpires}
        hint="The token stops working at this time. Leave this empty for a token that does not expire."
      />
    </FormDialog>
  )
}
