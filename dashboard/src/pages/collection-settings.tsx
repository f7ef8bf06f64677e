// The settings of a collection: its name, the retention of versions, the expiry of documents, and its deletion.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { FormFooter, useEditForm } from '../parts/edit-form.tsx'
import { Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { LoadedContent, reloadIfChanged, useLoad } from '../parts/load.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import { deleteSchema, readSchema, saveFields } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, type Json, type Query, textAt } from '../wire/json.ts'
import { wholeDays } from './overview.tsx'
import { collectionTabs } from './rows.tsx'

export function CollectionSettings({ name }: { readonly name: string }) {
  const settings = useLoad(signal => readSchema('collections', name, signal), [name, pastTime.value])
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={name} />
      {collectionTabs(name, 'settings')}
      <LoadedContent of={settings}>
        {document => <SettingsForm name={name} document={document} reload={settings.reload} />}
      </LoadedContent>
    </>
  )
}

const daysOf = (value: Json | undefined) => (typeof value === 'bigint' ? String(value) : '')

/** Texts as typed in the form. */
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

function changedSettings(left: Settings, right: Settings): readonly (keyof Settings)[] {
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
  const form = useEditForm<Json, Settings>({
    loaded: document,
    identityOf: version => at(version, 'ts'),
    draftOf: settingsOf,
    isSame: (draft, version) => changedSettings(draft, settingsOf(version)).length === 0,
    save: (draft, base, signal) => {
      const changed = changedSettings(draft, settingsOf(base)).map(field => [
        field,
        paramOf(field, draft[field]),
      ])
      return saveFields('collections', name, base, Object.fromEntries(changed), signal)
    },
    rebase: (draft, base, theirs) => {
      const own = changedSettings(draft, settingsOf(base)).map(field => [field, draft[field]])
      return { ...settingsOf(theirs), ...Object.fromEntries(own) }
    },
    onSaved: version => {
      const newName = textAt(version, 'name') ?? name
      if (newName !== name) go(addressOf(['collections', newName, 'settings']), 'replace')
    },
  })
  const isReadOnly = !rights.value.writes || pastTime.value !== undefined
  const { draft } = form
  const fieldOf = (field: keyof Settings) => ({
    value: draft[field],
    onInput: (text: string) => form.change({ ...draft, [field]: text }),
  })
  return (
    <>
      <form
        class="settings"
        onSubmit={event => {
          event.preventDefault()
          if (form.isDirty && !isReadOnly) form.save()
        }}
      >
        <fieldset disabled={isReadOnly}>
          <Field label="Name" {...fieldOf('name')} isRequired isMono />
          <Field
            label="Days of history"
            type="number"
            {...fieldOf('history_days')}
            hint="Earlier versions of documents are kept for this many days. Time travel and History show these versions. Leave this empty to keep all versions."
          />
          <Field
            label="Days until documents expire"
            type="number"
            {...fieldOf('ttl_days')}
            hint="Documents are deleted this many days after their last change. Leave this empty for documents that do not expire."
          />
          <FormFooter
            of={form}
            what="these settings"
            textOf={version => settingsText(settingsOf(version))}
            draftText={settingsText}
            isReadOnly={isReadOnly}
            isInForm
          >
            <Button class="danger-quiet" onClick={() => setDeleting(true)}>
              Delete collection
            </Button>
          </FormFooter>
        </fieldset>
      </form>
      {isDeleting && (
        <Confirm
          title={`Delete the collection ${name}?`}
          warning="This deletes the collection, all its documents with their history, and the indexes that cover only this collection. This cannot be undone."
          submit="Delete collection"
          typed={name}
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            await deleteSchema('collections', name, at(document, 'ts'), signal).catch(reloadIfChanged(reload))
            go(addressOf([]))
          }}
        />
      )}
    </>
  )
}
