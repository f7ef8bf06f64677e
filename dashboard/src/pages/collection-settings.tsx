// The settings of a collection: its name, how long versions are kept, when documents expire; and its end.

import { useState } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { Outcome, useEdited } from '../parts/edited.tsx'
import { Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded, reloading, useLoad } from '../parts/load.tsx'
import { addressOf, databasePath, go, pastTime } from '../router.ts'
import { deleteSchema, readSchema, saveFields } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { wholeDays } from './overview.tsx'
import { collectionTabs } from './rows.tsx'

/** The page of a collection's settings. */
export function CollectionSettings({ name }: { readonly name: string }) {
  const settings = useLoad(
    signal => readSchema('collections', name, signal),
    [name, pastTime.value, databasePath.value.join('/')],
  )
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={name} />
      {collectionTabs(name, 'settings')}
      <Loaded of={settings}>
        {document => <SettingsForm name={name} document={document} reload={settings.reload} />}
      </Loaded>
    </>
  )
}

const daysOf = (value: Json | undefined) => (typeof value === 'bigint' ? String(value) : '')

/** What the form shows: texts as they are typed. */
interface Settings {
  readonly name: string
  readonly history_days: string
  readonly ttl_days: string
}

const settingNames = ['name', 'history_days', 'ttl_days'] as const

const settingsOf = (document: Json): Settings => ({
  name: textAt(document, 'name') ?? '',
  history_days: daysOf(at(document, 'history_days')),
  ttl_days: daysOf(at(document, 'ttl_days')),
})

const settingsText = ({ name, history_days, ttl_days }: Settings) =>
  `name: ${name}\ndays of history: ${history_days || 'forever'}\ndays until documents expire: ${ttl_days || 'never'}`

/** The fields in which two versions differ. */
function differing(left: Settings, right: Settings): readonly (keyof Settings)[] {
  return settingNames.filter(name => left[name] !== right[name])
}

function paramOf(name: keyof Settings, text: string): Query {
  if (name === 'name') return text
  return text === '' ? null : wholeDays(text)
}

interface SettingsFormProps {
  readonly name: string
  readonly document: Json
  readonly reload: () => void
}

function SettingsForm({ name, document, reload }: SettingsFormProps) {
  const [isDeleting, setDeleting] = useState(false)
  const edited = useEdited<Json, Settings>({
    loaded: document,
    timeOf: version => at(version, 'ts'),
    draftOf: settingsOf,
    isSame: (draft, version) => differing(draft, settingsOf(version)).length === 0,
    save: (draft, base, signal) => {
      const changed = differing(draft, settingsOf(base)).map(field => [field, paramOf(field, draft[field])])
      return saveFields('collections', name, base, Object.fromEntries(changed), signal)
    },
    rebase: (draft, base, theirs) => {
      const own = differing(draft, settingsOf(base)).map(field => [field, draft[field]])
      return { ...settingsOf(theirs), ...Object.fromEntries(own) }
    },
    onSaved: version => {
      const newName = textAt(version, 'name') ?? name
      if (newName !== name) go(addressOf(['collections', newName, 'settings']), 'replace')
    },
  })
  const isReadOnly = !rights.value.writes || pastTime.value !== undefined
  const { draft } = edited
  const fieldOf = (field: keyof Settings) => ({
    value: draft[field],
    onInput: (text: string) => edited.change({ ...draft, [field]: text }),
  })
  return (
    <>
      <form
        class="settings"
        onSubmit={event => {
          event.preventDefault()
          if (edited.isDirty && !isReadOnly) edited.save()
        }}
      >
        <fieldset disabled={isReadOnly}>
          <Field label="Name" {...fieldOf('name')} isRequired isMono />
          <Field
            label="Days of history"
            type="number"
            {...fieldOf('history_days')}
            hint="For how many days earlier versions of a document are kept. They are what time travel and History show. Empty: forever."
          />
          <Field
            label="Days until documents expire"
            type="number"
            {...fieldOf('ttl_days')}
            hint="Documents are deleted so many days after their last change. Empty: they stay until somebody deletes them."
          />
          <Outcome
            of={edited}
            what="these settings"
            textOf={version => settingsText(settingsOf(version))}
            draftText={settingsText}
            isReadOnly={isReadOnly}
            isInForm
          >
            <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
              Delete collection
            </button>
          </Outcome>
        </fieldset>
      </form>
      {isDeleting && (
        <Confirm
          title={`Delete the collection ${name}?`}
          warning="All its documents and their history become unreachable at once, and indexes over this collection alone go with it. This cannot be undone."
          submit="Delete collection"
          typed={name}
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            await deleteSchema('collections', name, at(document, 'ts'), signal).catch(reloading(reload))
            go(addressOf([]))
          }}
        />
      )}
    </>
  )
}
