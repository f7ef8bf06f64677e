// The editor of a role: the table of its privileges, with a row for each resource and a column for each action, and the
// list of its members.

import { useMemo, useState } from 'preact/hooks'
import { parseLiteral } from '../language.ts'
import { Button } from '../parts/button.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { FormFooter, useEditForm } from '../parts/edit-form.tsx'
import { Editor } from '../parts/editor.tsx'
import { Choice, optionsOf } from '../parts/fields.tsx'
import { errorMarks } from '../parts/notation-switch.tsx'
import { otherDraftHint, useOtherDraft } from '../parts/other-draft.ts'
import { useChoices } from '../parts/schema-list.tsx'
import { buttons, Table } from '../parts/table.tsx'
import { pastTime } from '../router.ts'
import {
  actions,
  applies,
  type Grants,
  type Membership,
  type Privilege,
  predicateTemplates,
  type ResourceKind,
  type RoleAction,
  type RoleShape,
  roleChanges,
  roleShape,
  shapeText,
} from '../service/role-shape.ts'
import { saveFields } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, textAt } from '../wire/json.ts'
import { natives } from '../wire/refs.ts'

/** A predicate that is being edited, and the function that receives its text. */
interface Editing {
  readonly title: string
  readonly text: string
  readonly onDone: (text: string) => void
  /** Says what the result of the predicate decides. */
  readonly effect: string
  readonly example: string
}

export function RoleTable({ role, onSaved }: { role: Json; onSaved: () => void }) {
  const [editing, setEditing] = useState<Editing | undefined>(undefined)
  const form = useEditForm<Json, RoleShape>({
    loaded: role,
    identityOf: version => at(version, 'ts'),
    draftOf: roleShape,
    isSame: (draft, version) => shapeText(draft) === shapeText(roleShape(version)),
    save: (draft, base, signal) =>
      saveFields('roles', textAt(base, 'name') ?? '', base, roleChanges(roleShape(base), draft), signal),
    onSaved,
  })
  const hasOtherDraft = useOtherDraft('privileges', form.isDirty)
  const isReadOnly = pastTime.value !== undefined || !rights.value.administers
  const { draft } = form
  const change = (changed: Partial<RoleShape>) => form.change({ ...draft, ...changed })
  return (
    <section aria-labelledby="privileges">
      <h2 id="privileges">Privileges</h2>
      {hasOtherDraft && <p class="hint">{otherDraftHint}</p>}
      <fieldset disabled={isReadOnly || hasOtherDraft}>
        <PrivilegeTable
          privileges={draft.privileges}
          onChange={privileges => change({ privileges })}
          onEdit={setEditing}
        />
        <AddResource
          privileges={draft.privileges}
          onAdd={privilege => change({ privileges: [...draft.privileges, privilege] })}
        />
        <Members
          memberships={draft.memberships}
          onChange={memberships => change({ memberships })}
          onEdit={setEditing}
        />
      </fieldset>
      <FormFooter
        of={form}
        what="this role"
        submit="Save privileges"
        textOf={version => shapeText(roleShape(version))}
        draftText={shapeText}
        isReadOnly={isReadOnly}
      />
      {editing && <PredicateDialog editing={editing} onClose={() => setEditing(undefined)} />}
    </section>
  )
}

interface PrivilegeTableProps {
  readonly privileges: readonly Privilege[]
  readonly onChange: (privileges: readonly Privilege[]) => void
  readonly onEdit: (editing: Editing) => void
}

function PrivilegeTable({ privileges, onChange, onEdit }: PrivilegeTableProps) {
  if (privileges.length === 0)
    return (
      <p class="empty">
        This role grants nothing yet. Add a resource below, then choose the allowed actions.
      </p>
    )
  const set = (row: number, grants: Grants) =>
    onChange(privileges.map((before, at) => (at === row ? { ...before, grants } : before)))
  return (
    <Table
      label="Table of privileges"
      look="privileges"
      columns={['Resource', ...actions, buttons('Remove')]}
    >
      {privileges.map((privilege, row) => (
        <tr key={`${privilege.kind}/${privilege.name}`}>
          <th scope="row">
            <bdi>{privilege.name}</bdi> <span class="absent">{privilege.kind}</span>
          </th>
          {actions.map(action => (
            <td key={action}>
              <GrantChoice {...{ privilege, action, onEdit }} onChange={grants => set(row, grants)} />
            </td>
          ))}
          <td>
            <Button
              class="quiet"
              aria-label={`Remove ${privilege.name}`}
              onClick={() => onChange(privileges.filter((_, at) => at !== row))}
            >
              ✕
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  )
}

interface GrantChoiceProps {
  readonly privilege: Privilege
  readonly action: RoleAction
  readonly onChange: (grants: Grants) => void
  readonly onEdit: (editing: Editing) => void
}

function GrantChoice({ privilege, action, onChange, onEdit }: GrantChoiceProps) {
  const { kind, name, grants } = privilege
  const grant = grants[action]
  if (!applies(action, kind) && grant === undefined) return <span class="absent">–</span>
  const { [action]: _, ...others } = grants
  const edit = () =>
    onEdit({
      title: `Condition for ${action} of ${name}`,
      text: typeof grant === 'string' ? grant : predicateTemplates[action],
      effect:
        'This role allows the action if the predicate returns true. If the predicate returns another value or fails, only another role can allow the action.',
      example: 'Query(Lambda("ref", Equals(CurrentIdentity(), Var("ref"))))',
      onDone: text => onChange({ ...others, [action]: text }),
    })
  const choose = (choice: string) => {
    if (choice === 'no') onChange(others)
    else if (choice === 'yes') onChange({ ...others, [action]: true })
    else edit()
  }
  const choice = grant === undefined ? 'no' : grant === true ? 'yes' : 'if'
  return (
    <span class="grant">
      <select
        aria-label={`${action} of ${name}`}
        class={`grant-${choice}`}
        value={choice}
        onChange={event => {
          choose(event.currentTarget.value)
          // Shows the current choice, because “if…” takes effect only when the user applies the predicate.
          event.currentTarget.value = choice
        }}
      >
        <option value="no">no</option>
        <option value="yes">yes</option>
        <option value="if">if…</option>
      </select>
      {choice === 'if' && (
        <Button class="quiet" aria-label={`Predicate for ${action} of ${name}`} onClick={edit}>
          ✎
        </Button>
      )}
    </span>
  )
}

interface AddResourceProps {
  readonly privileges: readonly Privilege[]
  readonly onAdd: (privilege: Privilege) => void
}

function AddResource({ privileges, onAdd }: AddResourceProps) {
  const lists = {
    collection: useChoices('collections'),
    index: useChoices('indexes'),
    function: useChoices('functions'),
  }
  const [chosen, setChosen] = useState('')
  const namesOf = (kind: keyof typeof lists) => lists[kind].data ?? []
  const all = [
    ...(['collection', 'index', 'function'] as const).flatMap(kind =>
      namesOf(kind).map(name => [`${kind} ${name}`, `${name} (${kind})`] as const),
    ),
    ...natives.map(name => [`native ${name}`, `${name} (built-in collection)`] as const),
  ]
  const taken = new Set(privileges.map(({ kind, name }) => `${kind} ${name}`))
  const free = all.filter(([value]) => !taken.has(value))
  const value = free.some(([each]) => each === chosen) ? chosen : (free[0]?.[0] ?? '')
  const add = () => {
    const [kind = '', ...name] = value.split(' ')
    onAdd({
      kind: kind as ResourceKind,
      name: name.join(' '),
      grants: kind === 'function' ? { call: true } : { read: true },
    })
  }
  return (
    <div class="inline-form added">
      <Choice label="Resource" value={value} options={free} onChange={setChosen} />
      <Button disabled={value === ''} onClick={add}>
        Add resource
      </Button>
    </div>
  )
}

const memberTemplate = 'Query(Lambda("ref", Select(["data", "active"], Get(Var("ref")))))'

interface MembersProps {
  readonly memberships: readonly Membership[]
  readonly onChange: (memberships: readonly Membership[]) => void
  readonly onEdit: (editing: Editing) => void
}

function Members({ memberships, onChange, onEdit }: MembersProps) {
  const collections = useChoices('collections')
  const [chosen, setChosen] = useState('')
  const names = collections.data ?? []
  const free = names.filter(name => !memberships.some(({ collection }) => collection === name))
  const value = free.includes(chosen) ? chosen : (free[0] ?? '')
  const set = (row: number, predicate: string) =>
    onChange(memberships.map((before, at) => (at === row ? { ...before, predicate } : before)))
  return (
    <>
      <h3>Members</h3>
      <p class="hint">Users whose document is in one of these collections have this role.</p>
      <ul class="members">
        {memberships.map(({ collection, predicate }, row) => (
          <li key={collection}>
            <bdi>{collection}</bdi>
            <Button
              class="quiet"
              onClick={() =>
                onEdit({
                  title: `Condition for members from ${collection}`,
                  text: predicate || memberTemplate,
                  effect:
                    'A document is a member of the role if the predicate returns true for the document.',
                  example: memberTemplate,
                  onDone: text => set(row, text),
                })
              }
            >
              {predicate === '' ? 'Add condition' : 'Edit condition'}
            </Button>
            <Button
              class="quiet"
              aria-label={`Remove member ${collection}`}
              onClick={() => onChange(memberships.filter((_, at) => at !== row))}
            >
              ✕
            </Button>
          </li>
        ))}
      </ul>
      <div class="inline-form added">
        <Choice label="Member collection" value={value} options={optionsOf(free)} onChange={setChosen} />
        <Button
          disabled={value === ''}
          onClick={() => onChange([...memberships, { collection: value, predicate: '' }])}
        >
          Add members
        </Button>
      </div>
    </>
  )
}

function PredicateDialog({ editing, onClose }: { editing: Editing; onClose: () => void }) {
  const [text, setText] = useState(editing.text)
  const [error, setError] = useState<Error | undefined>(undefined)
  const marks = useMemo(() => errorMarks(error), [error])
  return (
    <FormDialog
      title={editing.title}
      submit="Apply"
      isWide
      onClose={onClose}
      onSubmit={async () => {
        try {
          parseLiteral(text, 'text')
        } catch (cause) {
          setError(cause as Error)
          throw cause
        }
        editing.onDone(text)
        onClose()
      }}
    >
      <Editor label="Predicate" value={text} onChange={setText} notation="text" marks={marks} hasFocus />
      <p class="hint">
        {editing.effect} A predicate can read all documents, regardless of roles. Example:{' '}
        <code>{editing.example}</code>
      </p>
    </FormDialog>
  )
}
