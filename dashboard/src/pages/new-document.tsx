// Creates a document. The draft contains the required fields of a typed collection, or is a copy of another document.

import { useEffect, useState } from 'preact/hooks'
import { printValue } from '../language.ts'
import { Button } from '../parts/button.tsx'
import { DraftEditor } from '../parts/draft-editor.tsx'
import { Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { LoadedContent, useAction, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { address, addressOf, go, guard } from '../router.ts'
import { startingData } from '../service/declared-fields.ts'
import { createDocument, type Draft, readDocument } from '../service/documents.ts'
import { readSchema } from '../service/schema.ts'
import { documentTrail } from './document.tsx'
import { FieldTypes } from './field-types.tsx'

const empty: Draft = { data: '{\n  \n}', notation: 'text', ttl: '' }

/** Returns a draft with the required fields; without fields if there are none, or if the definition cannot be read. */
async function startOf(collection: string, signal: AbortSignal): Promise<Draft> {
  const definition = await readSchema('collections', collection, signal).catch(cause => {
    if (signal.aborted) throw cause
    return null
  })
  const data = startingData(definition)
  if (data.size === 0) return empty
  const fields = Array.from(data, ([name, value]) => `  ${keyText(name)}: ${printValue(value, 'text')}`)
  return { ...empty, data: `{\n${fields.join(',\n')}\n}` }
}

/** Writes the name of a field as drivers of version 4 do. */
const keyText = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))

export function NewDocument({ collection }: { readonly collection: string }) {
  const from = address.value.parameters.get('from')
  const start = useLoad(
    async (signal): Promise<Draft> => {
      if (from === null) return startOf(collection, signal)
      const { data } = await readDocument({ collection, id: from }, 'text', signal)
      return { ...empty, data }
    },
    [collection, from],
  )
  return (
    <>
      <Heading trail={documentTrail(collection)} title={from === null ? 'New document' : `Copy of ${from}`} />
      <LoadedContent of={start}>{draft => <NewForm collection={collection} start={draft} />}</LoadedContent>
    </>
  )
}

function NewForm({ collection, start }: { collection: string; start: Draft }) {
  const [draft, setDraft] = useState(start)
  const [id, setId] = useState('')
  const [password, setPassword] = useState('')
  const action = useAction()
  const [isDone, setDone] = useState(false)
  const isDirty = !isDone && (draft.data !== start.data || draft.ttl !== '' || id !== '' || password !== '')
  useEffect(() => guard(() => isDirty), [isDirty])
  const [lastId, setLastId] = useState<string | undefined>(undefined)
  const create = (another: boolean) =>
    action.start(async signal => {
      const created = await createDocument(
        collection,
        id.trim(),
        password === '' ? draft : { ...draft, password },
        signal,
      )
      setDone(!another)
      if (!another) return go(addressOf(['collections', collection, created]), 'replace')
      setDraft(start)
      setId('')
      setPassword('')
      setLastId(created)
    })
  return (
    <div class="document">
      <FieldTypes collection={collection} />
      <DraftEditor
        draft={draft}
        error={action.error}
        onChange={setDraft}
        onPresent={setDraft}
        onSubmit={() => create(false)}
      />
      <details>
        <summary>Id and password</summary>
        <Field
          label="Id"
          value={id}
          onInput={setId}
          isMono
          hint="An integer that no other document of the collection has. Leave this empty to let the service choose an id."
        />
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          value={password}
          onInput={setPassword}
          hint="Only for documents that are users: the password to log in with. Leave this empty for other documents."
        />
      </details>
      {action.error && <Problem error={action.error} />}
      <div class="form-buttons">
        <Button class="primary" disabled={action.isRunning} onClick={() => create(false)}>
          {action.isRunning ? 'Creating…' : 'Create'}
        </Button>
        <Button disabled={action.isRunning} onClick={() => create(true)}>
          Create and add another
        </Button>
        <a class="button" href={addressOf(['collections', collection])}>
          {lastId === undefined ? 'Cancel' : 'Done'}
        </a>
      </div>
      <p role="status">
        {lastId !== undefined && (
          <>
            <a href={addressOf(['collections', collection, lastId])}>{lastId}</a> was created.
          </>
        )}
      </p>
    </div>
  )
}
