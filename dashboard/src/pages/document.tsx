// One document: read, edited, copied and deleted, with its users' things: password and tokens.

import { useEffect, useState } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { Diff } from '../parts/diff.tsx'
import { DraftEditor } from '../parts/draft-editor.tsx'
import { Check } from '../parts/fields.tsx'
import { Heading, Tabs } from '../parts/heading.tsx'
import { useLive } from '../parts/live.ts'
import { type Action, Loaded, useAction, useLoad } from '../parts/load.tsx'
import { Notice, Problem } from '../parts/problem.tsx'
import { ReferenceList } from '../parts/reference-list.tsx'
import { Instant } from '../parts/time.tsx'
import { addressOf, databasePath, go, guard, pastTime } from '../router.ts'
import {
  type DocumentName,
  type Draft,
  deleteDocument,
  readDocument,
  saveDocument,
} from '../service/documents.ts'
import type { DocumentText } from '../service/heavy-tasks.ts'
import { rights } from '../session.ts'
import { documentRef } from '../wire/refs.ts'
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
        {rights.value.writes && !isPast && <DocumentActions name={name} />}
      </Heading>
      {documentTabs(name, 'document')}
      <Loaded of={document}>
        {loaded => <DocumentForm name={name} loaded={loaded} isReadOnly={isPast || !rights.value.writes} />}
      </Loaded>
      {!isPast && rights.value.writes && document.data && <UserAccess name={name} />}
    </>
  )
}

function DocumentActions({ name }: { name: DocumentName }) {
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
          warning="Its versions stay in the history for as long as the collection keeps them. If it is a user, its tokens stop working."
          submit="Delete document"
          onClose={() => setDeleting(false)}
          onConfirm={async signal => {
            await deleteDocument(name, signal)
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

const draftOf = (document: DocumentText): Draft => ({
  data: document.data,
  ttl: document.ttl,
  notation: 'text',
})

function DocumentForm({ name, loaded, isReadOnly }: FormProps) {
  const [base, setBase] = useState(loaded)
  const [draft, setDraft] = useState(() => draftOf(loaded))
  const [theirs, setTheirs] = useState<DocumentText | undefined>(undefined)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const action = useAction()
  const isChanged = draft.notation === 'text' ? draft.data !== base.data || draft.ttl !== base.ttl : true
  const [isTouched, setTouched] = useState(false)
  const isDirty = isTouched && isChanged
  useEffect(() => guard(() => isDirty), [isDirty])
  // What came by a live update is shown at once, unless there is input that it would take away.
  useEffect(() => {
    if (loaded.ts === base.ts) return
    if (isDirty) setTheirs(loaded)
    else take(loaded)
  }, [loaded])
  const take = (document: DocumentText) => {
    setBase(document)
    setDraft(draftOf(document))
    setTheirs(undefined)
    setTouched(false)
  }
  const save = (readAt: bigint | undefined) =>
    action.start(async signal => {
      setNotice(undefined)
      const saved = await saveDocument(name, draft, readAt, signal)
      if (saved.kind === 'conflict') setTheirs(saved.theirs)
      else if (saved.kind === 'gone')
        throw new Error('The document has been deleted meanwhile. Copy what you need.')
      else {
        take(await readDocument(name, 'text', signal))
        setNotice('Saved.')
      }
    })
  return (
    <div class="document">
      <p class="facts">
        Changed <Instant micros={base.ts} />
      </p>
      <DraftEditor
        draft={draft}
        isReadOnly={isReadOnly}
        error={action.error}
        onSubmit={() => !isReadOnly && isDirty && save(base.ts)}
        onChange={changed => {
          setTouched(true)
          setDraft(changed)
        }}
      />
      {action.error && <Problem error={action.error} />}
      {theirs && (
        <Conflict
          draft={draft}
          theirs={theirs}
          onTake={() => take(theirs)}
          onOverwrite={() => save(theirs.ts)}
        />
      )}
      {!isReadOnly && !theirs && (
        <SaveButtons
          action={action}
          isDirty={isDirty}
          onSave={() => save(base.ts)}
          onUndo={() => take(base)}
        />
      )}
      <Notice text={notice} />
      <ReferenceList text={base.data} />
    </div>
  )
}

interface SaveProps {
  readonly action: Action
  readonly isDirty: boolean
  readonly onSave: () => void
  readonly onUndo: () => void
}

function SaveButtons({ action, isDirty, onSave, onUndo }: SaveProps) {
  return (
    <div class="form-buttons">
      <button type="button" class="primary" disabled={!isDirty || action.isRunning} onClick={onSave}>
        {action.isRunning ? 'Saving…' : 'Save'}
      </button>
      {isDirty && (
        <button type="button" onClick={onUndo}>
          Discard changes
        </button>
      )}
    </div>
  )
}

interface ConflictProps {
  readonly draft: Draft
  readonly theirs: DocumentText
  readonly onTake: () => void
  readonly onOverwrite: () => void
}

function Conflict({ draft, theirs, onTake, onOverwrite }: ConflictProps) {
  return (
    <div class="conflict">
      <p class="problem" role="alert">
        Somebody else has changed this document meanwhile. Nothing of theirs was overwritten: compare, then
        choose.
      </p>
      <Diff
        left={theirs.data}
        right={draft.data}
        leftName="Theirs, as it is now"
        rightName="Yours, not saved"
      />
      <div class="form-buttons">
        <button type="button" onClick={onTake}>
          Take theirs
        </button>
        <button type="button" class="danger" onClick={onOverwrite}>
          Overwrite with mine
        </button>
      </div>
    </div>
  )
}
