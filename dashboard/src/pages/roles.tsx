// The pages of roles: a list, and for each role a table of its privileges and its members.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
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

/** The list, or the page of one role. */
export function Roles({ path: [name] }: { readonly path: readonly string[] }) {
  return name === undefined ? <RoleList /> : <Role name={name} />
}

function RoleList() {
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <Heading title="Roles">
        {rights.value.administers && pastTime.value === undefined && (
          <Button class="primary" onClick={() => setCreating(true)}>
            Create role
          </Button>
        )}
      </Heading>
      <SchemaList
        native="roles"
        label="Roles"
        columns={columns}
        whenEmpty="There are no roles. Users who log in have no rights without a role. Create a role, grant the rights that users need, and add the collection of your users as members."
      />
      {isCreating && <NewRole onClose={() => setCreating(false)} />}
    </>
  )
}

function NewRole({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  return (
    <FormDialog
      title="Create role"
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
      <p class="hint">A new role grants nothing. Next, add its privileges and members.</p>
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
      deleteWarning="The members of the role lose its rights at once."
    >
      {(role, reload) => <RoleTable key={textAt(role, 'name')} role={role} onSaved={reload} />}
    </SchemaPage>
  )
}
