// Tokens: the logins of users, revoked one by one or all of a user's.

import { useState } from 'preact/hooks'
import { SchemaPage } from '../parts/definition.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded, useLoad } from '../parts/load.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Column, DocumentTable } from '../parts/schema-list.tsx'
import { Instant } from '../parts/time.tsx'
import { Cell, previewOf } from '../parts/values.tsx'
import { addressOf, addressWith, databasePath, pastTime, place } from '../router.ts'
import { deleteSchema } from '../service/schema.ts'
import { listTokens, revokeAll } from '../service/tokens.ts'
import { rights } from '../session.ts'
import { at, type Json, textAt } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'

const idOf = (document: Json) => refOf(at(document, 'ref'))?.id ?? ''

/** The pages of tokens. */
export function Tokens({ path: [id] }: { readonly path: readonly string[] }) {
  if (id === undefined) return <TokenList />
  return (
    <SchemaPage
      native="tokens"
      section="tokens"
      plural="Tokens"
      singular="token"
      id={id}
      deleteWarning="Whoever uses it is logged out."
    />
  )
}

function userOf(text: string | null): { collection: string; id: string } | undefined {
  const slash = text?.lastIndexOf('/') ?? -1
  return text === null || slash < 1
    ? undefined
    : { collection: text.slice(0, slash), id: text.slice(slash + 1) }
}

function TokenList() {
  const userText = place.value.parameters.get('user')
  const user = userOf(userText)
  const [trail, setTrail] = useState<readonly Json[]>([])
  const [revoking, setRevoking] = useState<Json | 'all' | undefined>(undefined)
  const [searched, setSearched] = useState(0)
  const after = trail.at(-1)
  const tokens = useLoad(
    signal => listTokens(user, after, setSearched, signal),
    [userText, after, pastTime.value, databasePath.value.join('/')],
  )
  const mayRevoke = pastTime.value === undefined && rights.value.writes
  const columns: readonly Column[] = [
    ['Id', token => <a href={addressOf(['tokens', idOf(token)])}>{idOf(token)}</a>],
    ['User', token => <Cell value={at(token, 'instance')} />],
    [
      'Data',
      token => <bdi>{at(token, 'data') === undefined ? '–' : previewOf(at(token, 'data') ?? null)}</bdi>,
    ],
    ['Expires', token => textAt(token, 'ttl', '@ts') ?? 'never'],
    ['Made', token => <Instant micros={at(token, 'ts')} />],
    [
      '',
      token =>
        mayRevoke && (
          <button type="button" class="danger-quiet" onClick={() => setRevoking(token)}>
            Revoke<span class="unseen"> {idOf(token)}</span>
          </button>
        ),
    ],
  ]
  return (
    <>
      <Heading title={user === undefined ? 'Tokens' : `Tokens of ${userText}`}>
        {user !== undefined && (
          <a class="button" href={addressWith({ user: undefined })}>
            All tokens
          </a>
        )}
        {user !== undefined && mayRevoke && (tokens.data?.data.length ?? 0) > 0 && (
          <button type="button" class="danger-quiet" onClick={() => setRevoking('all')}>
            Revoke all
          </button>
        )}
      </Heading>
      {user !== undefined && tokens.isLoading && searched > 0 && (
        <p role="status">Searched {searched} tokens…</p>
      )}
      <Loaded of={tokens}>
        {page => (
          <>
            {page.data.length === 0 ? (
              <p class="empty">
                {user === undefined
                  ? 'There are no tokens: nobody is logged in. A token is made when a document with a password logs in.'
                  : 'This user is not logged in anywhere.'}
              </p>
            ) : (
              <DocumentTable label="Tokens" columns={columns} documents={page.data} />
            )}
            <Pager trail={trail} after={page.after} onTurn={setTrail} />
          </>
        )}
      </Loaded>
      {revoking !== undefined && (
        <Confirm
          title={
            revoking === 'all' ? `Revoke all tokens of ${userText}?` : `Revoke the token ${idOf(revoking)}?`
          }
          warning="Whoever uses it is logged out at once."
          submit={revoking === 'all' ? 'Revoke all tokens' : 'Revoke token'}
          onClose={() => setRevoking(undefined)}
          onConfirm={async signal => {
            if (revoking !== 'all') await deleteSchema('tokens', idOf(revoking), revoking, signal)
            else if (user) await revokeAll(user, signal)
            setRevoking(undefined)
            tokens.reload()
          }}
        />
      )}
    </>
  )
}
