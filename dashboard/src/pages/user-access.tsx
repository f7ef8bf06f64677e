// What makes a document a user: whether it has a password, and the tokens of its logins.

import { useState } from 'preact/hooks'
import { Confirm, FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { Loaded, reloading, useLoad } from '../parts/load.tsx'
import { PasswordDialog } from '../parts/password-dialog.tsx'
import { Notice } from '../parts/problem.tsx'
import { buttons, Table } from '../parts/table.tsx'
import { Instant, instantOf } from '../parts/time.tsx'
import { addressOf, databasePath } from '../router.ts'
import type { DocumentName } from '../service/documents.ts'
import { ServiceError } from '../service/faults.ts'
import { deleteSchema } from '../service/schema.ts'
import { logInAs, readUser, revokeAll, type UserToken } from '../service/users.ts'
import { canScope } from '../session.ts'
import { SecretDialog } from './keys.tsx'

/** What a person does here. */
type Doing =
  | { readonly kind: 'password' | 'log in' | 'revoke all' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'revoke'; readonly token: UserToken }

/** The section of a document's page about logging in. */
export function UserAccess({ name }: { name: DocumentName }) {
  const [doing, setDoing] = useState<Doing | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const { collection, id } = name
  const user = useLoad(signal => readUser(name, signal), [collection, id, databasePath.value.join('/')])
  const done = (said?: string) => {
    setDoing(undefined)
    setNotice(said)
    user.reload()
  }
  // Whose roles grant documents, but neither passwords nor tokens, has no business here.
  if (user.error instanceof ServiceError && user.error.status === 403) return null
  return (
    <section class="user-access" aria-labelledby="login">
      <h2 id="login">Logging in</h2>
      <Loaded of={user}>
        {({ passwordSet, tokens, isMore }) => (
          <>
            <p>
              {passwordSet === undefined ? (
                'This document has no password. Give it one if it stands for a user who logs in.'
              ) : (
                <>
                  This document is a user: it has a password, set <Instant micros={passwordSet} />.
                </>
              )}
            </p>
            <div class="form-buttons">
              <button type="button" onClick={() => setDoing({ kind: 'password' })}>
                Set password
              </button>
              <button type="button" onClick={() => setDoing({ kind: 'log in' })}>
                Log in as this user
              </button>
              {canScope.value && (
                <a class="button" href={addressOf(['shell'], { as: `${collection}/${id}` })}>
                  Ask queries as this user
                </a>
              )}
            </div>
            <UserTokens tokens={tokens} isMore={isMore} onDo={setDoing} />
          </>
        )}
      </Loaded>
      <Notice text={notice} />
      {doing && (
        <UserDialog name={name} doing={doing} onDo={setDoing} onDone={done} onChanged={user.reload} />
      )}
    </section>
  )
}

interface TokensProps {
  readonly tokens: readonly UserToken[]
  readonly isMore: boolean
  readonly onDo: (doing: Doing) => void
}

function UserTokens({ tokens, isMore, onDo }: TokensProps) {
  if (tokens.length === 0) return <p class="empty">This user is not logged in anywhere.</p>
  return (
    <>
      <Table label="Tokens of this user" columns={['Token', 'Made', 'Expires', buttons('Actions')]}>
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
              <button type="button" class="danger-quiet" onClick={() => onDo({ kind: 'revoke', token })}>
                Revoke<span class="unseen"> {token.id}</span>
              </button>
            </td>
          </tr>
        ))}
      </Table>
      {isMore && <p class="hint">There are more; these are the first {tokens.length}.</p>}
      <div class="form-buttons">
        <button type="button" class="danger-quiet" onClick={() => onDo({ kind: 'revoke all' })}>
          Revoke all
        </button>
      </div>
    </>
  )
}

interface DialogProps {
  readonly name: DocumentName
  readonly doing: Doing
  readonly onDo: (doing: Doing | undefined) => void
  readonly onDone: (notice?: string) => void
  /** Somebody else has changed something meanwhile. */
  readonly onChanged: () => void
}

function UserDialog({ name, doing, onDo, onDone, onChanged }: DialogProps) {
  const close = () => onDo(undefined)
  switch (doing.kind) {
    case 'password':
      return (
        <PasswordDialog
          user={name}
          hint="Only a hash of it is stored. Who is logged in stays logged in: revoke the tokens if that is not wanted."
          onClose={close}
          onDone={() => onDone('The password is set.')}
        />
      )
    case 'log in':
      return <LogInDialog name={name} onClose={close} onMade={secret => onDo({ kind: 'secret', secret })} />
    case 'secret':
      return <SecretDialog title="The new token" secret={doing.secret} onClose={() => onDone()} />
    case 'revoke':
      return (
        <Confirm
          title={`Revoke the token ${doing.token.id}?`}
          warning="Whoever uses it is logged out at once."
          submit="Revoke token"
          onClose={close}
          onConfirm={async signal => {
            await deleteSchema('tokens', doing.token.id, doing.token.ts, signal).catch(reloading(onChanged))
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
  readonly onMade: (secret: string) => void
}

function LogInDialog({ name, onClose, onMade }: LogInProps) {
  const [expires, setExpires] = useState('')
  return (
    <FormDialog
      title={`Log in as ${name.collection}/${name.id}`}
      submit="Make a token"
      onClose={onClose}
      onSubmit={async signal => onMade(await logInAs(name, expires === '' ? '' : instantOf(expires), signal))}
    >
      <p>
        This makes a token without asking for the password. Requests with the secret of the token have the
        rights of this user.
      </p>
      <Field
        label="Expires"
        type="datetime-local"
        value={expires}
        onInput={setExpires}
        hint="The token stops working at this time. Leave it empty for one that does not expire."
      />
    </FormDialog>
  )
}
