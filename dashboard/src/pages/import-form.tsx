// The form of an import: the file, and what a person can say about it.

import { Check, Choice } from '../parts/fields.tsx'
import type { ImportChoices, ImportPlan } from '../service/import-documents.ts'
import { contentText, type Preview } from '../service/import-preview.ts'

interface ImportFormProps {
  readonly file: File | undefined
  /** Undefined while no file is chosen, or none that can be imported. */
  readonly plan: ImportPlan | undefined
  readonly preview: Preview | undefined
  readonly choices: ImportChoices
  readonly isRunning: boolean
  readonly onFile: (file: File | undefined) => void
  readonly onChange: (choices: ImportChoices) => void
  readonly onStart: () => void
}

/** Labels of encodings that files of older programs are in. */
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

/** The form; `onStart` is called when it is sent. */
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
          JSON (one object per line, an array, or an export), CSV, or what the shell prints; also packed with
          gzip.
        </p>
      </div>
      {file && !isRunning && <HowItIsRead {...props} />}
      {plan && !isRunning && <Choices {...props} plan={plan} />}
      <div class="form-buttons">
        <button type="submit" class="primary" disabled={!plan || isRunning}>
          {isRunning ? 'Importing…' : 'Import'}
        </button>
      </div>
    </form>
  )
}

function HowItIsRead({ plan, choices, onChange }: ImportFormProps) {
  const set = (changed: Partial<ImportChoices>) => onChange({ ...choices, ...changed })
  return (
    <>
      {plan && <p>{contentText(plan.file)}.</p>}
      <details>
        <summary>How the file is read</summary>
        <Choice
          label="Encoding"
          value={choices.encoding}
          onChange={encoding => set({ encoding })}
          options={[['', 'as the file says'], ...encodings.map(name => [name, name] as const)]}
        />
        {plan?.file.content.kind === 'csv' && (
          <>
            <Choice
              label="Empty cells become"
              value={choices.emptyCells}
              onChange={emptyCells => set({ emptyCells })}
              options={[
                ['null', 'nothing (null)'],
                ['empty', 'an empty text'],
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
        label="A document that is there already"
        value={choices.onConflict}
        onChange={onConflict => set({ onConflict })}
        options={[
          ['fail', 'ends the import, unless it is the same'],
          ['keep', 'stays as it is'],
          ['replace', 'is replaced'],
        ]}
      />
      <Check
        label="Pass over what cannot be imported, and list it"
        isOn={choices.passesOverBad}
        onChange={passesOverBad => set({ passesOverBad })}
      />
      {preview?.hasRowIds && (
        <Check
          label="The field id is the id of the document"
          isOn={choices.hasRowIds}
          onChange={hasRowIds => set({ hasRowIds })}
        />
      )}
      {preview && preview.others.length > 0 && (
        <Check
          label={
            <>
              Documents of <bdi>{preview.others.join(', ')}</bdi> go there, not into{' '}
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
