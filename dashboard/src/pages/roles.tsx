// Roles: what may be done to what, as a table, and who is a member.

import { useState } from 'preact/hooks'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { NameField } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { type Column, SchemaList } from '../parts/schema-list.tsx'
import { Instant } from '../parts/time.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import { roleShape } from '../service/role-shape.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, textAt } from '../wire/json.ts'
import { RoleTable } from './role-table.tsx'

const columns: readonly Column[] = [
  [
    'Name',
    role => {
      const name = textAt(role, 'name') ?? ''
      return <a href={addressOf(['roles', name])}>{name}</a>
    },
  ],
  [
    'Grants rights on',
    role =>
      roleShape(role)
        .privileges.map(({ name }) => name)
        .join(', ') || '–',
  ],
  [
    'Members',
    role =>
      roleShape(role)
        .memberships.map(({ collection }) => collection)
        .join(', ') || '–',
  ],
  ['Changed', role => <Instant micros={at(role, 'ts')} />],
]

/** The pages of roles. */
export function Roles({ path: [name] }: { readonly path: readonly string[] }) {
  return name === undefined ? <RoleList /> : <Role name={name} />
}

function RoleList() {
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <Heading title="Roles">
        {rights.value.administers && pastTime.value === undefined && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New role
          </button>
        )}
      </Heading>
      <SchemaList
        native="roles"
        label="Roles"
        columns={columns}
        whenEmpty="There are no roles. A user who logs in may do nothing until a role allows it. Make a role, allow what its members need, and add the collection of your users as its members."
      />
      {isCreating && <NewRole onClose={() => setCreating(false)} />}
    </>
  )
}

function NewRole({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  return (
    <FormDialog
      title="New role"
      submit="Create"
      isReady={name !== ''}
      onClose={onClose}
      onSubmit={async signal => {
        await createSchema('roles', { object: { name } }, signal)
        onClose()
        go(addressOf(['roles', name]))
      }}
    >
      <NameField value={name} onInput={setName} />
      <p class="hint">A new role allows nothing. You choose next what its members may do.</p>
    </FormDialog>
  )
}

function Role({ name }: { name: string }) {
  return (
    <SchemaPage
      native="roles"
      section="roles"
      plural="Roles"
      singular="role"
      id={name}
      isTyped
      deleteWarning="Its members lose at once what the role allows them."
    >
      {(role, reload) => <RoleTable key={textAt(role, 'name')} role={role} onSaved={reload} />}
    </SchemaPage>
  )
}
