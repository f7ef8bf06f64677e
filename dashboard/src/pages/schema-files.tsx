// Schema files of version 10, which are edited, compared and pushed together. A push takes effect at once, or is
// staged.

import { useMemo, useRef, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { AnsiDiff } from '../parts/diff.tsx'
import { FormFooter, useEditForm } from '../parts/edit-form.tsx'
import { Check } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { LoadedContent, useAction, useLoad } from '../parts/load.tsx'
import { Problem, Summary } from '../parts/problem.tsx'
import { address, addressWith, go, pastTime } from '../router.ts'
import {
  areSame,
  checkFiles,
  compareFiles,
  errorsIn,
  identityOf,
  mergeFiles,
  pushFiles,
  readSchemaFiles,
  removedCollections,
  type SchemaDifference,
  type SchemaFile,
  SchemaRejection,
  type SchemaState,
  warningsIn,
} from '../service/schema-files.ts'
import { rights, session } from '../session.ts'
import { FileEditor, FileNameDialog, FileNames } from './schema-file.tsx'
import { StagedSchema } from './staged-schema.tsx'

export function SchemaFiles() {
  const role = session.value?.principal.role
  const mayRead = role === 'admin' || role === 'server' || role === 'server-readonly'
  return (
    <>
      <Heading title="Schema files" />
      {!mayRead ? (
        <p class="empty">Your secret may not read schema files. Sign in with an admin or server key.</p>
      ) : pastTime.value !== undefined ? (
        <p class="empty">
          Schema files have no history. <a href={addressWith({ at: undefined })}>Back to now</a>
        </p>
      ) : (
        <LoadedFiles />
      )}
    </>
  )
}

function LoadedFiles() {
  const state = useLoad(readSchemaFiles, [])
  return (
    <LoadedContent of={state}>{loaded => <Files loaded={loaded} onChanged={state.reload} />}</LoadedContent>
  )
}

interface FilesProps {
  readonly loaded: SchemaState
  readonly onChanged: () => void
}

/** All files as one text, for comparisons. */
function wholeText(files: readonly SchemaFile[]): string {
  return files.map(({ name, text }) => `// ${name}\n${text}`).join('\n')
}

/**
 * Asks for confirmation before a push deletes collections with their documents. Throws an AbortError when the user
 * cancels.
 */
function confirmRemovals(difference: SchemaDifference) {
  const removed = removedCollections(difference)
  if (removed.length === 0) return
  const question = `This push deletes these collections with all their documents: ${removed.join(', ')}. Push?`
  if (!confirm(question)) throw new DOMException('The push was cancelled.', 'AbortError')
}

function Files({ loaded, onChanged }: FilesProps) {
  // The service accepts imports and schema files only from admins.
  const isAdmin = rights.value.imports
  const [wantsStaging, setWantsStaging] = useState(false)
  const isStaging = wantsStaging || loaded.staged !== undefined
  const compared = useAction()
  const checked = useAction()
  const [isCorrect, setCorrect] = useState(false)
  const [difference, setDifference] = useState<SchemaDifference | undefined>(undefined)
  const [warnings, setWarnings] = useState('')
  const form = useEditForm<SchemaState, readonly SchemaFile[]>({
    loaded,
    identityOf,
    draftOf: ({ files }) => files,
    isSame: (draft, { files }) => areSame(draft, files),
    rebase: (draft, base, theirs) => mergeFiles(draft, base.files, theirs.files),
    save: async (draft, base, signal) => {
      forgetComparison()
      // The page always shows the changes of a staged schema with their warnings.
      if (isStaging) return pushFiles(draft, base, true, signal)
      const changes = await compareFiles(draft, base, signal)
      confirmRemovals(changes)
      const outcome = await pushFiles(draft, base, false, signal)
      if (outcome.kind === 'saved') setWarnings(warningsIn(changes))
      return outcome
    },
    onSaved: onChanged,
  })
  const { draft, isDirty } = form
  const forgetComparison = () => {
    compared.clear()
    checked.clear()
    setCorrect(false)
    setDifference(undefined)
    setWarnings('')
  }
  const change = (files: readonly SchemaFile[]) => {
    forgetComparison()
    form.action.clear()
    form.change(files)
  }
  const compare = () =>
    compared.start(async signal => {
      setDifference(undefined)
      form.action.clear()
      setDifference(await compareFiles(draft, form.theirs ?? form.base, signal))
    })
  const check = () => {
    forgetComparison()
    form.action.clear()
    checked.start(async signal => {
      await checkFiles(draft, form.theirs ?? form.base, signal)
      setCorrect(true)
    })
  }
  const refusal = form.action.error ?? compared.error ?? checked.error
  const drawn = refusal instanceof SchemaRejection ? refusal.drawn : ''
  return (
    <>
      {!isAdmin && <p class="hint">Read-only: only admin keys can change schema files.</p>}
      {loaded.staged && (
        <StagedSchema state={loaded} isReadOnly={!isAdmin} isDirty={isDirty} onChanged={onChanged} />
      )}
      <FileTable files={draft} base={form.base.files} drawn={drawn} isReadOnly={!isAdmin} onChange={change} />
      {compared.error && <Problem error={compared.error} />}
      {draft.length > 0 && (
        <div class="form-buttons">
          <Button disabled={checked.isRunning} onClick={check}>
            {checked.isRunning ? 'Checking…' : 'Check types'}
          </Button>
          {isCorrect && <span role="status">No errors.</span>}
        </div>
      )}
      {checked.error && <Problem error={checked.error} />}
      {isAdmin && (
        <Check
          label="Stage: nothing changes until you commit the staged schema"
          isOn={isStaging}
          isDisabled={loaded.staged !== undefined}
          onChange={setWantsStaging}
        />
      )}
      <FormFooter
        of={form}
        what="the schema"
        textOf={({ files }) => wholeText(files)}
        draftText={wholeText}
        isReadOnly={!isAdmin}
        submit={isStaging ? 'Push staged' : 'Push'}
      >
        <Button disabled={!isDirty || compared.isRunning} onClick={compare}>
          {compared.isRunning ? 'Comparing…' : 'Compare'}
        </Button>
      </FormFooter>
      <Summary summary={drawn} />
      {warnings !== '' && <PushWarnings text={warnings} />}
      {difference && <Difference of={difference} />}
    </>
  )
}

/** Shows the warnings of the last push until the next change or comparison. */
function PushWarnings({ text }: { text: string }) {
  return (
    <section aria-labelledby="warnings">
      <h2 id="warnings">Warnings about the pushed schema</h2>
      <AnsiDiff text={text} />
    </section>
  )
}

function Difference({ of: { semantic, textual } }: { of: SchemaDifference }) {
  return (
    <section aria-labelledby="difference">
      <h2 id="difference">Changes by definition</h2>
      {semantic === '' ? <p class="empty">No definition changes.</p> : <AnsiDiff text={semantic} />}
      <h2>Changes by line</h2>
      {textual === '' ? <p class="empty">No line changes.</p> : <AnsiDiff text={textual} />}
    </section>
  )
}

interface FileTableProps {
  readonly files: readonly SchemaFile[]
  readonly base: readonly SchemaFile[]
  /** Errors of the last push or comparison with excerpts of the files, as the service returns them. */
  readonly drawn: string
  readonly isReadOnly: boolean
  readonly onChange: (files: readonly SchemaFile[]) => void
}

function FileTable({ files, base, drawn, isReadOnly, onChange }: FileTableProps) {
  const [naming, setNaming] = useState<'new' | 'rename' | undefined>(undefined)
  const errors = useMemo(() => errorsIn(drawn), [drawn])
  const wanted = address.value.parameters.get('file')
  const shown = files.find(({ name }) => name === wanted) ?? files[0]
  // A second change may follow before the first change is rendered.
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
          There are no schema files. Schema files define collections, functions, roles and access providers as
          text. Add a file, or define collections with queries of version 10.
        </p>
      )}
      {!isReadOnly && (
        <div class="editor-head">
          <Button onClick={() => setNaming('new')}>Add file</Button>
          {shown && (
            <div class="file-actions">
              <Button onClick={() => setNaming('rename')}>Rename</Button>
              <Button class="danger-quiet" onClick={() => onChange(files.filter(file => file !== shown))}>
                Remove
              </Button>
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
