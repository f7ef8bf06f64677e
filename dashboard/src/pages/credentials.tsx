// The pages of credentials documents. Each contains the password hash of a user.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
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

export function Credentials({ path: [id] }: { readonly path: readonly string[] }) {
  if (id === undefined) return <CredentialList />
  return (
    <SchemaPage
      native="credentials"
      singular="credentials"
      id={id}
      isReadOnly
      deleteWarning="The user can no longer log in with a password. Existing tokens stay valid until you revoke them."
    />
  )
}

function CredentialList() {
  const [changing, setChanging] = useState<RefName | undefined>(undefined)
  const [reloads, setReloads] = useState(0)
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
            <Button onClick={() => setChanging(user)}>
              Set password<span class="unseen"> of {`${user.collection}/${user.id}`}</span>
            </Button>
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
        reloads={reloads}
        whenEmpty="No document has a password yet. To set one, open the document of a user and choose Set password."
      />
      {changing && (
        <PasswordDialog
          user={changing}
          onClose={() => setChanging(undefined)}
          onDone={() => {
            setChanging(undefined)
            setReloads(reloads + 1)
          }}
        />
      )}
    </>
  )
}
