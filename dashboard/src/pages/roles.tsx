// The pages of roles: a list, and for each role a table of its privileges and its members.

import { useState } from 'preact/hooks'
import { CreateButton } from '../parts/create-button.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { NameField } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { type Column, nameColumn, SchemaList } from '../parts/schema-list.tsx'
import { Instant } from '../parts/time.tsx'
import { addressOf, go } from '../router.ts'
import { roleShape } from '../service/role-shape.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, textAt } from '../wire/json.ts'
import { RoleTable } from './role-table.tsx'

const columns: readonly Column[] = [
  nameColumn('roles'),
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

export function Roles({ path: [name] }: { readonly path: readonly string[] }) {
  if (name === undefined) return <RoleList />
  return (
    <SchemaPage
      native="roles"
      singular="role"
      id={name}
      deleteWarning="The members of the role lose its rights at once."
    >
      {(role, reload) => <RoleTable key={textAt(role, 'name')} role={role} onSaved={reload} />}
    </SchemaPage>
  )
}

function RoleList() {
  return (
    <>
      <Heading title="Roles">
        <CreateButton text="Create role" isAllowed={rights.value.administers} form={NewRole} />
      </Heading>
      <SchemaList
        native="roles"
        label="Roles"
        columns={columns}
        whenEmpty="There are no roles. Users who log in have no rights without a role. Create a role, grant the rights that users need, and add the collection of your users as members."
      />
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
