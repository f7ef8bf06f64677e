// The pages of keys: a list, a form that creates a key with a role, and a page for each key. The secret of a new key is
// shown once.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { Confirm, Dialog, FormDialog } from '../parts/dialog.tsx'
import { Choice, Field, optionsOf } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { reloadIfChanged } from '../parts/load.tsx'
import { type Column, SchemaList, useChoices } from '../parts/schema-list.tsx'
import { Instant, instantOf } from '../parts/time.tsx'
import { addressOf, pastTime } from '../router.ts'
import { createSchema, deleteSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { idOf, refOf } from '../wire/refs.ts'
import { Connect } from './connect.tsx'
import { roleText } from './functions.tsx'

const nameOf = (key: Json) => textAt(key, 'name') ?? textAt(key, 'data', 'name')

export function Keys({ path: [id] }: { readonly path: readonly string[] }) {
  if (id === undefined) return <KeyList />
  return (
    <SchemaPage
      native="keys"
      singular="key"
      id={id}
      deleteWarning="Requests with this key are then rejected."
    />
  )
}

function KeyList() {
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | undefined>(undefined)
  const [revoking, setRevoking] = useState<Json | undefined>(undefined)
  const [reloads, setReloads] = useState(0)
  const mayChange = rights.value.administers && pastTime.value === undefined
  const columns: readonly Column[] = [
    ['Id', key => <a href={addressOf(['keys', idOf(key)])}>{idOf(key)}</a>],
    ['Name', key => <bdi>{nameOf(key) ?? '–'}</bdi>],
    ['Role', key => roleText(at(key, 'role'))],
    ['Database', key => refOf(at(key, 'database'))?.id ?? 'this one'],
    ['Expires', key => textAt(key, 'ttl', '@ts') ?? 'never'],
    ['Changed', key => <Instant micros={at(key, 'ts')} />],
    [
      '',
      key =>
        mayChange && (
          <Button class="danger-quiet" onClick={() => setRevoking(key)}>
            Revoke<span class="unseen"> {idOf(key)}</span>
          </Button>
        ),
    ],
  ]
  return (
    <>
      <Heading title="Keys">
        {mayChange && (
          <Button class="primary" onClick={() => setCreating(true)}>
            Create key
          </Button>
        )}
      </Heading>
      <SchemaList
        native="keys"
        label="Keys"
        columns={columns}
        reloads={reloads}
        whenEmpty="There are no keys. Create a key for each program that uses this database, with a role that has only the rights that the program needs."
      />
      {isCreating && (
        <NewKey
          onClose={() => setCreating(false)}
          onCreated={created => {
            setCreating(false)
            setSecret(created)
            setReloads(reloads + 1)
          }}
        />
      )}
      {secret !== undefined && (
        <SecretDialog title="Key created" secret={secret} onClose={() => setSecret(undefined)} />
      )}
      {revoking !== undefined && (
        <Confirm
          title={`Revoke the key ${nameOf(revoking) ?? idOf(revoking)}?`}
          warning="Requests with this key are rejected at once. This cannot be undone."
          submit="Revoke key"
          onClose={() => setRevoking(undefined)}
          onConfirm={async signal => {
            await deleteSchema('keys', idOf(revoking), at(revoking, 'ts'), signal).catch(
              reloadIfChanged(() => setReloads(reloads + 1)),
            )
            setRevoking(undefined)
            setReloads(reloads + 1)
          }}
        />
      )}
    </>
  )
}

/** The secret cannot be shown again. */
export function SecretDialog({
  title,
  secret,
  onClose,
}: {
  title: string
  secret: string
  onClose: () => void
}) {
  return (
    <Dialog title={title} onClose={onClose} question={() => 'Close? The secret cannot be shown again.'}>
      <div class="dialog-body">
        <p>Copy the secret now: the service keeps only its hash and cannot show it again.</p>
        <p class="secret">
          <code>{secret}</code>
        </p>
        <Connect secret={secret} />
      </div>
      <footer class="dialog-foot">
        <CopyButton text={secret} label="Copy secret" />
        <Button class="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

const builtin = [
  ['server', 'server: everything except databases, keys, roles and access providers'],
  ['server-readonly', 'server-readonly: reads only'],
  ['client', 'client: only public operations, such as logging in'],
  ['admin', 'admin: everything'],
] as const

function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState('server')
  const [database, setDatabase] = useState('')
  const [ttl, setTtl] = useState('')
  const roles = useChoices('roles')
  const databases = useChoices('databases')
  const create = async (signal: AbortSignal) => {
    const custom = role.startsWith('role ') ? role.slice('role '.length) : undefined
    const fields: Record<string, Query> = { role: custom === undefined ? role : { role: custom } }
    if (name !== '') fields.name = name
    if (database !== '') fields.database = { database }
    if (ttl !== '') fields.ttl = { '@ts': instantOf(ttl) }
    const key = await createSchema('keys', { object: fields }, signal)
    onCreated(textAt(key, 'secret') ?? '')
  }
  return (
    <FormDialog title="Create key" submit="Create" onClose={onClose} onSubmit={create}>
      <Field
        label="Name"
        value={name}
        onInput={setName}
        hasFocus
        hint="The program that uses the key, such as web shop backend."
      />
      <Choice
        label="Role"
        value={role}
        onChange={setRole}
        options={[
          ...builtin,
          ...(roles.data ?? []).map(each => [`role ${each}`, `${each} (user-defined role)`] as const),
        ]}
      />
      <Choice
        label="Database"
        value={database}
        onChange={setDatabase}
        options={[['', 'this one'], ...optionsOf(databases.data ?? [])]}
      />
      <Field
        label="Expires"
        type="datetime-local"
        value={ttl}
        onInput={setTtl}
        hint="The key stops working at this time. Leave this empty for a key that does not expire."
      />
    </FormDialog>
  )
}
