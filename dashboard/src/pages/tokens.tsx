// The pages of tokens. A token is a login of a user. The page of a user's document lists the tokens of that user.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { reloadIfChanged } from '../parts/load.tsx'
import { type Column, SchemaList } from '../parts/schema-list.tsx'
import { Instant } from '../parts/time.tsx'
import { Cell, previewOf } from '../parts/values.tsx'
import { addressOf, pastTime } from '../router.ts'
import { deleteSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, textAt } from '../wire/json.ts'
import { idOf } from '../wire/refs.ts'

export function Tokens({ path: [id] }: { readonly path: readonly string[] }) {
  if (id === undefined) return <TokenList />
  return (
    <SchemaPage
      native="tokens"
      singular="token"
      id={id}
      deleteWarning="Programs that use this token are logged out at once."
    />
  )
}

function TokenList() {
  const [revoking, setRevoking] = useState<Json | undefined>(undefined)
  const [reloads, setReloads] = useState(0)
  const reload = () => setReloads(reloads + 1)
  const mayRevoke = pastTime.value === undefined && rights.value.writes
  const columns: readonly Column[] = [
    ['Id', token => <a href={addressOf(['tokens', idOf(token)])}>{idOf(token)}</a>],
    ['User', token => <Cell value={at(token, 'instance')} />],
    [
      'Data',
      token => <bdi>{at(token, 'data') === undefined ? '–' : previewOf(at(token, 'data') ?? null)}</bdi>,
    ],
    ['Expires', token => textAt(token, 'ttl', '@ts') ?? 'never'],
    ['Created', token => <Instant micros={at(token, 'ts')} />],
    [
      '',
      token =>
        mayRevoke && (
          <Button class="danger-quiet" onClick={() => setRevoking(token)}>
            Revoke<span class="unseen"> {idOf(token)}</span>
          </Button>
        ),
    ],
  ]
  return (
    <>
      <Heading title="Tokens" />
      <SchemaList
        native="tokens"
        label="Tokens"
        columns={columns}
        reloads={reloads}
        whenEmpty="There are no tokens: no user is logged in. Each login creates a token. To log in as a user, open the document of the user."
      />
      {revoking !== undefined && (
        <Confirm
          title={`Revoke the token ${idOf(revoking)}?`}
          warning="Programs that use this token are logged out at once."
          submit="Revoke token"
          onClose={() => setRevoking(undefined)}
          onConfirm={async signal => {
            await deleteSchema('tokens', idOf(revoking), at(revoking, 'ts'), signal).catch(
              reloadIfChanged(reload),
            )
            setRevoking(undefined)
            reload()
          }}
        />
      )}
    </>
  )
}
