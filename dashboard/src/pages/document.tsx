// One document: read, edited, copied and deleted, with its users' things: password and tokens.

import { useState } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { DraftEditor } from '../parts/draft-editor.tsx'
import { Outcome, useEdited } from '../parts/edited.tsx'
import { Check } from '../parts/fields.tsx'
import { Heading, Tabs } from '../parts/heading.tsx'
import { useLive } from '../parts/live.ts'
import { Loaded, type Loading, reloading, useLoad } from '../parts/load.tsx'
import { ReferenceList } from '../parts/reference-list.tsx'
import { Instant } from '../parts/time.tsx'
import { addressOf, databasePath, go, pastTime } from '../router.ts'
import {
  type DocumentName,
  type Draft,
  deleteDocument,
  readDocument,
  saveDocument,
} from '../service/documents.ts'
import { ServiceError } from '../service/faults.ts'
import type { DocumentText } from '../service/heavy-tasks.ts'
import { rights } from '../session.ts'
import { documentRef } from '../wire/refs.ts'
import { FieldTypes } from './field-types.tsx'
import { UserAccess } from './user-access.tsx'

/** The links between the pages of a document. */
export function documentTabs({ collection, id }: DocumentName, here: 'document' | 'history') {
  const base = ['collections', collection, id]
  return (
    <Tabs
      label="Document"
      tabs={[
        ['Document', addressOf(base), here === 'document'],
        ['History', addressOf([...base, 'history']), here === 'history'],
      ]}
    />
  )
}

/** The trail above a document's title. */
export function documentTrail(collection: string) {
  return [
    ['Collections', addressOf([])],
    [collection, addressOf(['collections', collection])],
  ] as const
}

const isGone = (error: Error | undefined) => error instanceof ServiceError && error.is('instance not found')

/** The page of a document. */
export function Document(name: DocumentName) {
  const { collection, id } = name
  const [isLive, setLive] = useState(false)
  const document = useLoad(
    signal => readDocument(name, 'text', signal),
    [collection, id, pastTime.value, databasePath.value.join('/')],
  )
  const isPast = pastTime.value !== undefined
  useLive(isLive && !isPast ? documentRef(collection, id) : undefined, document.reload)
  return (
    <>
      <Heading trail={documentTrail(collection)} title={id}>
        {!isPast && <Check label="Live" isOn={isLive} onChange={setLive} />}
        {rights.value.writes && !isPast && document.data && (
          <DocumentActions name={name} document={document} />
        )}
      </Heading>
      {documentTabs(name, 'document')}
      {isGone(document.error) && !isPast && (
        <p class="hint">
          If it was deleted, its <a href={addressOf(['collections', collection, id, 'history'])}>history</a>{' '}
          shows what it was and brings it back.
        </p>
      )}
      <Loaded of={document}>
        {loaded => <DocumentForm name={name} loaded={loaded} isReadOnly={isPast || !rights.value.writes} />}
      </Loaded>
      {!isPast && rights.value.writes && document.data && <UserAccess name={name} />}
    </>
  )
}

interface ActionsProps {
  readonly name: DocumentName
  readonly document: Loading<DocumentText>
}

function DocumentActions({ name, document }: ActionsProps) {
  const [isDeleting, setDeleting] = useState(false)
  const { collection, id } = name
  return (
    <>
      <a class="button" href={addressOf(['collections', collection, 'new'], { from: id })}>
        Copy
      </a>
      <button type="button" class="danger-quiet" onClick={() => setDeleting(true)}>
        Delete
      </button>
      {isDeleting && (
        <Confirm
          title={`Delete ${collection}/${id}?`}
          warning="You can bring it back from the page Deleted for as long as the collection keeps its history. If it is a user, its password and tokens are gone at once."
          submit="Delete document"
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            await deleteDocument(name, document.data?.ts ?? 0n, signal).catch(reloading(document.reload))
            go(addressOf(['collections', collection]))
          }}
        />
      )}
    </>
  )
}

interface FormProps {
  readonly name: DocumentName
  readonly loaded: DocumentText
  readonly isReadOnly: boolean
}

const draftOf = ({ data, ttl, notation }: DocumentText): Draft => ({ data, ttl, notation })

/** A draft as text that can be compared: its data, and when it expires. */
const textOf = ({ data, ttl }: Draft | DocumentText) => (ttl === '' ? data : `${data}\nexpires: ${ttl}`)

function DocumentForm({ name, loaded, isReadOnly }: FormProps) {
  const edited = useEdited<DocumentText, Draft>({
    loaded,
    timeOf: ({ ts }) => ts,
    draftOf,
    isSame: (draft, version) => draft.notation === version.notation && textOf(draft) === textOf(version),
    save: (draft, base, signal) => saveDocument(name, draft, base.ts, signal),
  })
  const { base, draft, isDirty, action } = edited
  return (
    <div class="document">
      <p class="facts">
        Changed <Instant micros={base.ts} />
      </p>
      <FieldTypes collection={name.collection} />
      <DraftEditor
        draft={draft}
        isReadOnly={isReadOnly}
        error={action.error}
        onSubmit={() => !isReadOnly && isDirty && edited.save()}
        onChange={edited.change}
        onPresent={edited.present}
      />
      <Outcome of={edited} what="this document" textOf={textOf} draftText={textOf} isReadOnly={isReadOnly} />
      <ReferenceList text={base.data} />
    </div>
  )
}
