// Imports a file into a collection: options, a preview of the first documents, the progress and a report.

import { useEffect, useState } from 'preact/hooks'
import type { Report } from '../../../src/transfer/report.ts'
import { Button } from '../parts/button.tsx'
import { Heading } from '../parts/heading.tsx'
import { type Action, useAction, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { useProgress } from '../parts/progress.ts'
import { addressOf, guard } from '../router.ts'
import { readChosenFile } from '../service/chosen-file.ts'
import {
  type ImportChoices,
  type ImportPlan,
  type ImportProgress,
  importDocuments,
} from '../service/import-documents.ts'
import { formError } from '../service/import-errors.ts'
import { previewOf } from '../service/import-preview.ts'
import { rights } from '../session.ts'
import { ImportForm } from './import-form.tsx'
import { ImportPreview } from './import-preview.tsx'
import { ImportReport } from './import-report.tsx'
import { collectionTabs } from './rows.tsx'

export function Import({ path }: { readonly path: readonly string[] }) {
  const [collection = ''] = path
  return (
    <>
      <Heading trail={[['Collections', addressOf([])]]} title={collection} />
      {collectionTabs(collection, 'import')}
      {rights.value.imports ? (
        <ImportSteps collection={collection} />
      ) : (
        <p class="empty">
          Your secret may not import files. Sign in with the root secret or an admin key of this database.
        </p>
      )}
    </>
  )
}

const defaultChoices: ImportChoices = {
  encoding: '',
  types: new Map(),
  emptyCells: 'null',
  allowShortRows: false,
  hasRowIds: false,
  onConflict: 'fail',
  skipsBad: true,
  keepsCollections: false,
}

function ImportSteps({ collection }: { collection: string }) {
  const [file, setFile] = useState<File | undefined>(undefined)
  const [choices, setChoices] = useState(defaultChoices)
  const [report, setReport] = useState<Report | undefined>(undefined)
  const { progress, begin, clear } = useProgress<ImportProgress>()
  const action = useAction()
  useEffect(() => guard(() => action.isRunning), [action.isRunning])
  const loaded = useLoad(async () => {
    if (!file) return undefined
    const source = await readChosenFile(file, collection, choices.encoding || undefined)
    const plan: ImportPlan = {
      ...choices,
      file: source,
      into: choices.keepsCollections ? undefined : collection,
    }
    // If the preview fails, the plan stays, so that the form still shows the options of the file.
    return previewOf(plan).then(
      preview => ({ plan, preview, fault: undefined }),
      (fault: Error) => ({ plan, preview: undefined, fault }),
    )
  }, [file, collection, choices])
  const fault = loaded.error ?? loaded.data?.fault
  const choose = (chosen: File | undefined) => {
    setFile(chosen)
    setReport(undefined)
    clear()
    action.clear()
    setChoices({ ...choices, types: new Map() })
  }
  const start = () =>
    action.start(async signal => {
      const plan = loaded.data?.plan
      if (!plan) return
      setReport(undefined)
      const { counters, stop } = begin({
        readBytes: 0,
        totalBytes: plan.file.bytes,
        documents: 0,
        phase: 'documents',
      })
      try {
        setReport(await importDocuments(plan, counters, signal))
      } finally {
        stop()
      }
    })
  return (
    <>
      <ImportForm
        file={file}
        plan={loaded.data?.plan}
        preview={loaded.data?.preview}
        choices={choices}
        isRunning={action.isRunning}
        onFile={choose}
        onChange={setChoices}
        onStart={start}
      />
      {fault && <Problem error={formError(fault)} />}
      {progress && <Progress progress={progress} action={action} isDone={report !== undefined} />}
      {action.error && <Problem error={formError(action.error)} />}
      {report && <ImportReport report={report} collection={collection} />}
      {loaded.data?.preview && !action.isRunning && !report && (
        <ImportPreview
          preview={loaded.data.preview}
          plan={loaded.data.plan}
          onTypes={types => setChoices({ ...choices, types })}
        />
      )}
    </>
  )
}

interface ProgressProps {
  readonly progress: ImportProgress
  readonly action: Action
  readonly isDone: boolean
}

function Progress({ progress, action, isDone }: ProgressProps) {
  const { documents, readBytes, totalBytes } = progress
  return (
    <section aria-label="Progress" class="progress">
      <progress
        aria-label="Part of the file that has been read"
        value={isDone ? totalBytes : readBytes}
        max={Math.max(totalBytes, 1)}
      />
      <p role="status">
        {documents} documents{action.isRunning ? '…' : '.'}
        {!action.isRunning &&
          !isDone &&
          ' The import has stopped. To continue, choose Import. You can also continue later: choose the same file again.'}
      </p>
      {action.isRunning && <Button onClick={action.cancel}>Stop</Button>}
    </section>
  )
}
