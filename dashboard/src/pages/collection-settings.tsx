// The settings of a collection: its name, how long versions are kept, when documents expire; and its end.

import { useState } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded, useAction, useLoad } from '../parts/load.tsx'
import { Notice, Problem } from '../parts/problem.tsx'
import { addressOf, databasePath, go, pastTime } from '../router.ts'
import { read, write } from '../service/data.ts'
import { rights } from '../session.ts'
import { at, type Json, type Query } from '../wire/json.ts'
import { collectionTabs } from './rows.tsx'

/** The page of a collection's settings. */
export function CollectionSettings({ name }: { readonly name: string }) {
  const settings = useLoad(
    async signal => (await read({ get: { collection: name } }, signal)).value,
    [name, pastTime.value, databasePath.value.join('/')],
  )
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={name} />
      {collectionTabs(name, 'settings')}
      <Loaded of={settings}>{document => <SettingsForm name={name} document={document} />}</Loaded>
    </>
  )
}

const daysOf = (value: Json | undefined) => (typeof value === 'bigint' ? String(value) : '')

function SettingsForm({ name, document }: { name: string; document: Json }) {
  const [newName, setNewName] = useState(name)
  const [history, setHistory] = useState(daysOf(at(document, 'history_days')))
  const [ttl, setTtl] = useState(daysOf(at(document, 'ttl_days')))
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const [isDeleting, setDeleting] = useState(false)
  const action = useAction()
  const isReadOnly = !rights.value.writes || pastTime.value !== undefined
  const save = (event: Event) => {
    event.preventDefault()
    action.start(async signal => {
      const days = (text: string): Query => (text === '' ? null : BigInt(text))
      const params: Query = { object: { name: newName, history_days: days(history), ttl_days: days(ttl) } }
      await write({ update: { collection: name }, params }, signal)
      setNotice('Saved.')
      if (newName !== name) go(addressOf(['collections', newName, 'settings']), 'replace')
    })
  }
  return (
    <>
      <form class="settings" onSubmit={save}>
        <fieldset disabled={isReadOnly}>
          <Field label="Name" value={newName} onInput={setNewName} isRequired isMono />
          <Field
            label="Days of history"
            type="number"
            value={history}
            onInput={setHistory}
            hint="How long versions are kept, for time travel. Empty: forever."
          />
          <Field
            label="Days until documents expire"
            type="number"
            value={ttl}
            onInput={setTtl}
            hint="Counted from a document's last change. Empty: they stay until they are deleted."
          />
          {action.error && <Problem error={action.error} />}
          <Notice text={notice} />
          <div class="form-buttons">
            <button type="submit" class="primary" disabled={action.isRunning}>
              Save
            </button>
            <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
              Delete collection
            </button>
          </div>
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
            await write({ delete: { collection: name } }, signal)
            go(addressOf([]))
          }}
        />
      )}
    </>
  )
}
