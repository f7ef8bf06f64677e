// The form of an import: the file, and the options of the import.

import { Check, Choice, optionsOf } from '../parts/fields.tsx'
import type { ImportChoices, ImportPlan } from '../service/import-documents.ts'
import { contentText, type Preview } from '../service/import-preview.ts'

interface ImportFormProps {
  readonly file: File | undefined
  /** Undefined until a file is chosen and its start has been read, and when the file cannot be imported. */
  readonly plan: ImportPlan | undefined
  readonly preview: Preview | undefined
  readonly choices: ImportChoices
  readonly isRunning: boolean
  readonly onFile: (file: File | undefined) => void
  readonly onChange: (choices: ImportChoices) => void
  readonly onStart: () => void
}

/** The encodings that programs commonly write. */
const encodings = [
  'utf-8',
  'windows-1252',
  'utf-16le',
  'utf-16be',
  'iso-8859-2',
  'iso-8859-15',
  'windows-1250',
  'windows-1251',
  'macintosh',
  'shift_jis',
  'gb18030',
  'euc-kr',
  'big5',
] as const

export function ImportForm(props: ImportFormProps) {
  const { file, plan, isRunning, onFile, onStart } = props
  const start = (event: Event) => {
    event.preventDefault()
    if (plan && !isRunning) onStart()
  }
  return (
    <form class="settings" onSubmit={start}>
      <div class="field">
        <label for="file">File</label>
        <input
          id="file"
          type="file"
          disabled={isRunning}
          aria-describedby="file-hint"
          onChange={event => onFile(event.currentTarget.files?.[0])}
        />
        <p class="hint" id="file-hint">
          JSON (one object per line, an array, or an export), CSV, TSV, or output of the shell. The file may
          be compressed with gzip.
        </p>
      </div>
      {file && !isRunning && <FormatOptions {...props} />}
      {plan && !isRunning && <Choices {...props} plan={plan} />}
      <div class="form-buttons">
        <button type="submit" class="primary" disabled={!plan || isRunning}>
          {isRunning ? 'Importing…' : 'Import'}
        </button>
      </div>
    </form>
  )
}

function FormatOptions({ plan, choices, onChange }: ImportFormProps) {
  const set = (changed: Partial<ImportChoices>) => onChange({ ...choices, ...changed })
  return (
    <>
      {plan && <p>{contentText(plan.file)}.</p>}
      <details>
        <summary>Format options</summary>
        <Choice
          label="Encoding"
          value={choices.encoding}
          onChange={encoding => set({ encoding })}
          options={[['', 'detect automatically'], ...optionsOf(encodings)]}
        />
        {plan?.file.content.kind === 'csv' && (
          <>
            <Choice
              label="Empty cells become"
              value={choices.emptyCells}
              onChange={emptyCells => set({ emptyCells })}
              options={[
                ['null', 'null'],
                ['quoted-null', 'null, also in quotes'],
                ['empty', 'empty text'],
              ]}
            />
            <Check
              label="Rows may be shorter than the header"
              isOn={choices.allowShortRows}
              onChange={allowShortRows => set({ allowShortRows })}
            />
          </>
        )}
      </details>
    </>
  )
}

function Choices({ plan, preview, choices, onChange }: ImportFormProps & { plan: ImportPlan }) {
  const set = (changed: Partial<ImportChoices>) => onChange({ ...choices, ...changed })
  return (
    <>
      <Choice
        label="If a document already exists"
        value={choices.onConflict}
        onChange={onConflict => set({ onConflict })}
        options={[
          ['fail', 'stop the import if the data differs'],
          ['keep', 'keep it'],
          ['replace', 'replace it'],
        ]}
      />
      <Check
        label="Skip documents that cannot be imported, and list them"
        isOn={choices.skipsBad}
        onChange={skipsBad => set({ skipsBad })}
      />
      {preview?.hasRowIds && (
        <Check
          label="Use the field id as the id of the document"
          isOn={choices.hasRowIds}
          onChange={hasRowIds => set({ hasRowIds })}
        />
      )}
      {preview && preview.others.length > 0 && (
        <Check
          label={
            <>
              Import documents of <bdi>{preview.others.join(', ')}</bdi> into their own collections, not into{' '}
              <bdi>{plan.file.collection}</bdi>
            </>
          }
          isOn={choices.keepsCollections}
          onChange={keepsCollections => set({ keepsCollections })}
        />
      )}
    </>
  )
}
