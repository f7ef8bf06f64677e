// The schema files of version 10: edited together, compared with what is there, pushed at once or staged.

import { useMemo, useRef, useState } from 'preact/hooks'
import { DrawnDiff } from '../parts/diff.tsx'
import { Outcome, useEdited } from '../parts/edited.tsx'
import { Check } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded, useAction, useLoad } from '../parts/load.tsx'
import { Drawn, Problem } from '../parts/problem.tsx'
import { addressWith, databasePath, go, pastTime, place } from '../router.ts'
import {
  areSame,
  compareFiles,
  errorsIn,
  identityOf,
  pushFiles,
  readSchemaFiles,
  rebased,
  removedCollections,
  type SchemaDifference,
  type SchemaFile,
  SchemaRefusal,
  type SchemaState,
} from '../service/schema-files.ts'
import { rights, session } from '../session.ts'
import { FileEditor, FileNameDialog, FileNames } from './schema-file.tsx'
import { StagedSchema } from './staged-schema.tsx'

/** The page of a database's schema files. */
export function SchemaFiles() {
  const role = session.value?.principal.role
  const mayRead = role === 'admin' || role === 'server' || role === 'server-readonly'
  return (
    <>
      <Heading title="Schema files" />
      {!mayRead ? (
        <p class="empty">
          Schema files are for admin keys. The secret you signed in with does not show them.
        </p>
      ) : pastTime.value !== undefined ? (
        <p class="empty">
          Schema files are known as they are now. <a href={addressWith({ at: undefined })}>Back to now</a>
        </p>
      ) : (
        <LoadedFiles />
      )}
    </>
  )
}

function LoadedFiles() {
  const state = useLoad(readSchemaFiles, [databasePath.value.join('/')])
  return <Loaded of={state}>{loaded => <Files loaded={loaded} onChanged={state.reload} />}</Loaded>
}

interface FilesProps {
  readonly loaded: SchemaState
  readonly onChanged: () => void
}

/** All files as one text, to be compared. */
function wholeText(files: readonly SchemaFile[]): string {
  return files.map(({ name, text }) => `// ${name}\n${text}`).join('\n')
}

/** Asks before documents go with their collections. Throws an AbortError when the person stays. */
async function confirmRemovals(files: readonly SchemaFile[], base: SchemaState, signal: AbortSignal) {
  const removed = removedCollections(await compareFiles(files, base, signal))
  if (removed.length === 0) return
  const question = `These collections go with all their documents: ${removed.join(', ')}. Push this?`
  if (!confirm(question)) throw new DOMException('It was not pushed.', 'AbortError')
}

function Files({ loaded, onChanged }: FilesProps) {
  const isAdmin = rights.value.imports
  const [wantsStaging, setWantsStaging] = useState(false)
  const isStaging = wantsStaging || loaded.staged !== undefined
  const compared = useAction()
  const [difference, setDifference] = useState<SchemaDifference | undefined>(undefined)
  const edited = useEdited<SchemaState, readonly SchemaFile[]>({
    loaded,
    timeOf: identityOf,
    draftOf: ({ files }) => files,
    isSame: (draft, { files }) => areSame(draft, files),
    rebase: (draft, base, theirs) => rebased(draft, base.files, theirs.files),
    save: async (draft, base, signal) => {
      forgetComparison()
      if (!isStaging) await confirmRemovals(draft, base, signal)
      return pushFiles(draft, base, isStaging, signal)
    },
    onSaved: onChanged,
  })
  const { draft, isDirty } = edited
  const forgetComparison = () => {
    compared.clear()
    setDifference(undefined)
  }
  const change = (files: readonly SchemaFile[]) => {
    forgetComparison()
    edited.action.clear()
    edited.change(files)
  }
  const compare = () =>
    compared.start(async signal => {
      setDifference(undefined)
      edited.action.clear()
      setDifference(await compareFiles(draft, edited.theirs ?? edited.base, signal))
    })
  const refusal = edited.action.error ?? compared.error
  const drawn = refusal instanceof SchemaRefusal ? refusal.drawn : ''
  return (
    <>
      {!isAdmin && <p class="hint">Only admin keys change schema files: you can look at them.</p>}
      {loaded.staged && (
        <StagedSchema state={loaded} isReadOnly={!isAdmin} isHeld={isDirty} onChanged={onChanged} />
      )}
      <FileTable
        files={draft}
        base={edited.base.files}
        drawn={drawn}
        isReadOnly={!isAdmin}
        onChange={change}
      />
      {compared.error && <Problem error={compared.error} />}
      {isAdmin && (
        <Check
          label="Stage it: nothing changes until the staged schema is committed"
          isOn={isStaging}
          isDisabled={loaded.staged !== undefined}
          onChange={setWantsStaging}
        />
      )}
      <Outcome
        of={edited}
        what="the schema"
        textOf={({ files }) => wholeText(files)}
        draftText={wholeText}
        isReadOnly={!isAdmin}
        submit={isStaging ? 'Push, staged' : 'Push'}
      >
        <button type="button" disabled={!isDirty || compared.isRunning} onClick={compare}>
          {compared.isRunning ? 'Comparing…' : 'Compare'}
        </button>
      </Outcome>
      <Drawn summary={drawn} />
      {difference && <Difference of={difference} />}
    </>
  )
}

function Difference({ of: { semantic, textual } }: { of: SchemaDifference }) {
  return (
    <section aria-labelledby="difference">
      <h2 id="difference">What a push would change</h2>
      {semantic === '' ? <p class="empty">No definition changes.</p> : <DrawnDiff text={semantic} />}
      <h2>By lines</h2>
      {textual === '' ? <p class="empty">No line changes.</p> : <DrawnDiff text={textual} />}
    </section>
  )
}

interface FileTableProps {
  readonly files: readonly SchemaFile[]
  readonly base: readonly SchemaFile[]
  /** The errors of the last push or comparison, as the service draws them. */
  readonly drawn: string
  readonly isReadOnly: boolean
  readonly onChange: (files: readonly SchemaFile[]) => void
}

/** The files and the one that is shown, which the address names. */
function FileTable({ files, base, drawn, isReadOnly, onChange }: FileTableProps) {
  const [naming, setNaming] = useState<'new' | 'rename' | undefined>(undefined)
  const errors = useMemo(() => errorsIn(drawn), [drawn])
  const wanted = place.value.parameters.get('file')
  const shown = files.find(({ name }) => name === wanted) ?? files[0]
  const latest = useRef(files)
  latest.current = files
  const show = (file: string) => go(addressWith({ file }), 'replace')
  const named = (name: string) => {
    const isNew = naming === 'new' || shown === undefined
    onChange(
      isNew ? [...files, { name, text: '' }] : files.map(file => (file === shown ? { ...file, name } : file)),
    )
    setNaming(undefined)
    show(name)
  }
  return (
    <>
      {files.length === 0 && (
        <p class="empty">
          There are no schema files. They say as text what collections, functions, roles and access providers
          there are; what queries of version 10 define appears here too.
        </p>
      )}
      {!isReadOnly && (
        <div class="editor-head">
          <button type="button" onClick={() => setNaming('new')}>
            New file
          </button>
          {shown && (
            <div class="file-actions">
              <button type="button" onClick={() => setNaming('rename')}>
                Rename
              </button>
              <button
                type="button"
                class="danger-quiet"
                onClick={() => onChange(files.filter(file => file !== shown))}
              >
                Remove
              </button>
            </div>
          )}
        </div>
      )}
      {shown && (
        <div class="schema-files">
          <FileNames files={files} base={base} errors={errors} shown={shown.name} onShow={show} />
          <FileEditor
            key={shown.name}
            file={shown}
            errors={errors}
            isReadOnly={isReadOnly}
            onChange={text =>
              onChange(latest.current.map(file => (file.name === shown.name ? { ...file, text } : file)))
            }
          />
        </div>
      )}
      {naming && (
        <FileNameDialog
          current={naming === 'rename' ? shown?.name : undefined}
          taken={files.map(({ name }) => name)}
          onClose={() => setNaming(undefined)}
          onNamed={named}
        />
      )}
    </>
  )
}
