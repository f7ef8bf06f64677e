// The page of a document: its data can be edited, copied and deleted. For documents that are users, the page also shows
// the password and the tokens.

import { useMemo, useState } from 'preact/hooks'
import { referencesIn } from '../language.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { DraftEditor } from '../parts/draft-editor.tsx'
import { FormFooter, useEditForm } from '../parts/edit-form.tsx'
import { Check } from '../parts/fields.tsx'
import { Heading, Tabs } from '../parts/heading.tsx'
import { NameLink } from '../parts/link.tsx'
import { useLive } from '../parts/live.ts'
import { LoadedContent, type LoadState, reloadIfChanged, useLoad } from '../parts/load.tsx'
import { Instant } from '../parts/time.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import { deleteChecked } from '../service/checked-writes.ts'
import { type DocumentName, type Draft, readDocument, saveDocument } from '../service/documents.ts'
import { ServiceError } from '../service/faults.ts'
import type { DocumentText } from '../service/text-tasks.ts'
import { rights } from '../session.ts'
import { documentRef } from '../wire/refs.ts'
import { FieldTypes } from './field-types.tsx'
import { UserAccess } from './user-access.tsx'

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

export function documentTrail(collection: string) {
  return [
    ['Collections', addressOf([])],
    [collection, addressOf(['collections', collection])],
  ] as const
}

const isGone = (error: Error | undefined) => error instanceof ServiceError && error.is('instance not found')

export function Document(name: DocumentName) {
  const { collection, id } = name
  const [isLive, setLive] = useState(false)
  const document = useLoad(signal => readDocument(name, 'text', signal), [collection, id, pastTime.value])
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
          If the document was deleted, restore it from its{' '}
          <a href={addressOf(['collections', collection, id, 'history'])}>history</a>.
        </p>
      )}
      <LoadedContent of={document}>
        {loaded => <DocumentForm name={name} loaded={loaded} isReadOnly={isPast || !rights.value.writes} />}
      </LoadedContent>
      {!isPast && rights.value.writes && document.data && <UserAccess name={name} />}
    </>
  )
}

interface ActionsProps {
  readonly name: DocumentName
  readonly document: LoadState<DocumentText>
}

function DocumentActions({ name, document }: ActionsProps) {
  const [isDeleting, setDeleting] = useState(false)
  const { collection, id } = name
  return (
    <>
      <a class="button" href={addressOf(['collections', collection, 'new'], { from: id })}>
        Copy
      </a>
      <Button class="danger-quiet" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {isDeleting && (
        <Confirm
          title={`Delete ${collection}/${id}?`}
          warning="You can restore the document on the page Deleted for as long as the collection keeps history. The password and tokens of the document, if any, are deleted permanently."
          submit="Delete document"
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            const readAt = document.data?.ts ?? 0n
            const deleted = deleteChecked(documentRef(collection, id), readAt, signal)
            await deleted.catch(reloadIfChanged(document.reload))
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

/** Data and expiry, for comparisons. */
const textOf = ({ data, ttl }: Draft | DocumentText) => (ttl === '' ? data : `${data}\nexpires: ${ttl}`)

function DocumentForm({ name, loaded, isReadOnly }: FormProps) {
  const form = useEditForm<DocumentText, Draft>({
    loaded,
    identityOf: ({ ts }) => ts,
    draftOf,
    isSame: (draft, version) => draft.notation === version.notation && textOf(draft) === textOf(version),
    save: (draft, base, signal) => saveDocument(name, draft, base.ts, signal),
  })
  const { base, draft, isDirty, action } = form
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
        onSubmit={() => !isReadOnly && isDirty && form.save()}
        onChange={form.change}
        onPresent={form.present}
      />
      <FormFooter of={form} what="this document" textOf={textOf} draftText={textOf} isReadOnly={isReadOnly} />
      <ReferenceList text={base.data} />
    </div>
  )
}

const shownMax = 100
/** Maximum length of a text that is searched for references. */
const textCharsMax = 500_000

/** Links to the documents that a text in driver notation refers to. */
function ReferenceList({ text }: { text: string }) {
  const references = useMemo(
    () => (text.length > textCharsMax ? [] : referencesIn(text).slice(0, shownMax)),
    [text],
  )
  if (references.length === 0) return null
  return (
    <section class="references" aria-label="References">
      <h2>Refers to</h2>
      <ul>
        {references.map(({ collection, id }) => (
          <li key={`${collection}/${id}`}>
            <NameLink href={addressOf(['collections', collection, id])} name={`${collection}/${id}`} />
          </li>
        ))}
      </ul>
    </section>
  )
}
