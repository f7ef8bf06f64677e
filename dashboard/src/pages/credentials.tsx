// Credentials: which documents have a password.

import { useState } from 'preact/hooks'
import { SchemaPage } from '../parts/definition.tsx'
import { Heading } from '../parts/heading.tsx'
import { PasswordDialog } from '../parts/password-dialog.tsx'
import { type Column, SchemaList } from '../parts/schema-list.tsx'
import { Instant } from '../parts/time.tsx'
import { Cell } from '../parts/values.tsx'
import { addressOf, pastTime } from '../router.ts'
import { rights } from '../session.ts'
import { at } from '../wire/json.ts'
import { idOf, type RefName, refOf } from '../wire/refs.ts'

/** The pages of credentials. */
export function Credentials({ path: [id] }: { readonly path: readonly string[] }) {
  if (id === undefined) return <CredentialList />
  return (
    <SchemaPage
      native="credentials"
      section="credentials"
      plural="Credentials"
      singular="credentials"
      id={id}
      isReadOnly
      deleteWarning="The user cannot log in with a password any more. Who is logged in stays logged in until their tokens are revoked."
    />
  )
}

function CredentialList() {
  const [changing, setChanging] = useState<RefName | undefined>(undefined)
  const [turn, setTurn] = useState(0)
  const mayChange = rights.value.writes && pastTime.value === undefined
  const columns: readonly Column[] = [
    ['Id', each => <a href={addressOf(['credentials', idOf(each)])}>{idOf(each)}</a>],
    ['User', each => <Cell value={at(each, 'instance')} />],
    ['Changed', each => <Instant micros={at(each, 'ts')} />],
    [
      '',
      each => {
        const user = refOf(at(each, 'instance'))
        return (
          mayChange &&
          user && (
            <button type="button" onClick={() => setChanging(user)}>
              Set password<span class="unseen"> of {`${user.collection}/${user.id}`}</span>
            </button>
          )
        )
      },
    ],
  ]
  return (
    <>
      <Heading title="Credentials" />
      <SchemaList
        native="credentials"
        label="Credentials"
        columns={columns}
        turn={turn}
        whenEmpty="Nobody has a password yet. To give a user one, open the document of the user and choose Set password."
      />
      {changing && (
        <PasswordDialog
          user={changing}
          onClose={() => setChanging(undefined)}
          onDone={() => {
            setChanging(undefined)
            setTurn(turn + 1)
          }}
        />
      )}
    </>
  )
}
