// Imports a file into a collection, with progress.

import { useState } from 'preact/hooks'
import { Check, Choice } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { useAction } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { addressOf } from '../router.ts'
import { formatOf, type ImportFormat, type ImportProgress, importFile } from '../service/import-file.ts'
import { collectionTabs } from './rows.tsx'

const beginningBytes = 1000

/** The page on which files are imported. */
export function Import({ collection }: { readonly collection: string }) {
  const [file, setFile] = useState<File | undefined>(undefined)
  const [format, setFormat] = useState<ImportFormat>('lines')
  const [keepIds, setKeepIds] = useState(false)
  const [progress, setProgress] = useState<ImportProgress | undefined>(undefined)
  const action = useAction()
  const choose = async (chosen: File | undefined) => {
    setFile(chosen)
    setProgress(undefined)
    if (chosen) setFormat(formatOf(chosen, await chosen.slice(0, beginningBytes).text()))
  }
  const start = (event: Event) => {
    event.preventDefault()
    if (!file) return
    action.start(async signal => {
      await importFile({ collection, file, format, keepIds, signal, onProgress: setProgress })
    })
  }
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={collection} />
      {collectionTabs(collection, 'import')}
      <form class="settings" onSubmit={start}>
        <div class="field">
          <label for="file">File</label>
          <input id="file" type="file" onChange={event => void choose(event.currentTarget.files?.[0])} />
          <p class="hint">
            Documents or just their data: one JSON object per line, a JSON array, or CSV with a head line.
            Nothing that is there already is overwritten.
          </p>
        </div>
        <Choice
          label="Format"
          value={format}
          onChange={setFormat}
          options={[
            ['lines', 'JSON lines'],
            ['array', 'JSON array'],
            ['csv', 'CSV'],
          ]}
        />
        {format !== 'csv' && <Check label="Keep the ids in the file" isOn={keepIds} onChange={setKeepIds} />}
        {action.error && <Problem error={action.error} />}
        <div class="form-buttons">
          <button type="submit" class="primary" disabled={!file || action.isRunning}>
            {action.isRunning ? 'Importing…' : 'Import'}
          </button>
        </div>
      </form>
      {progress && <Progress progress={progress} isRunning={action.isRunning} collection={collection} />}
    </>
  )
}

interface ProgressProps {
  readonly progress: ImportProgress
  readonly isRunning: boolean
  readonly collection: string
}

function Progress({ progress, isRunning, collection }: ProgressProps) {
  const { created, bytesRead, bytes, refused, refusedCount } = progress
  return (
    <section aria-label="Progress">
      <progress aria-label="Read of the file" value={bytesRead} max={Math.max(bytes, 1)} />
      <p role="status">
        {created} documents created{refusedCount > 0 && `, ${refusedCount} refused`}
        {isRunning ? '…' : '.'} {!isRunning && <a href={addressOf(['collections', collection])}>See them</a>}
      </p>
      {refused.length > 0 && (
        <div class="problem" role="alert">
          <p class="problem-title">These were refused:</p>
          <ul>
            {refused.map(({ place, reason }) => (
              <li key={place}>
                {place}: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}
