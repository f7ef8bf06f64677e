// Rewinds a collection to a time, in batches, with the code of `terrarium rewind`: first the changes are counted, then
// they are made. The page also shows the command, for rewinds that take very long.

import { useEffect, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { useAction } from '../parts/load.tsx'
import { Notice, Problem } from '../parts/problem.tsx'
import { useProgress } from '../parts/progress.ts'
import { documentsText } from '../parts/quantities.ts'
import { exactTime, Instant } from '../parts/time.tsx'
import { databasePath, guard } from '../router.ts'
import { type RewindCounts, type RewindTarget, rewindCollection } from '../service/rewind.ts'

interface RewindProps extends RewindTarget {
  /** Called after documents have changed. */
  readonly onChanged: () => void
}

/** A collapsed section that offers a rewind, and its result. */
export function Rewind({ onChanged, ...target }: RewindProps) {
  const [isOpen, setOpen] = useState(false)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  const command = commandOf(target)
  const close = (result: string | undefined) => {
    setOpen(false)
    setNotice(result)
    if (result !== undefined) onChanged()
  }
  return (
    <>
      <details>
        <summary>Rewind the whole collection to this time</summary>
        <p>
          A rewind restores all documents of the collection to their state at this time, in batches. Each
          change is a new version, so you can undo a rewind. During the rewind, queries can find documents
          that are not restored yet.
        </p>
        <Button onClick={() => setOpen(true)}>Count the changes</Button>
        <p>
          For a large collection, run this command with the secret of an admin key in{' '}
          <code>TERRARIUM_SECRET</code>. The command counts the documents that would change. Without{' '}
          <code>--dry-run</code>, the command changes them.
        </p>
        <pre class="drawn wrapped">{command}</pre>
        <CopyButton text={command} label="Copy command" />
      </details>
      <Notice text={notice} />
      {isOpen && <RewindDialog target={target} onClose={close} />}
    </>
  )
}

/** Quotes a word of a command if a shell would split or change it. */
const shellQuote = (word: string) =>
  /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

function commandOf({ collection, time }: RewindTarget): string {
  const path = databasePath.value.join('/')
  return [
    ...['npx', 'terrarium-db', 'rewind', '--url', location.origin],
    ...(path === '' ? [] : ['--database', path]),
    ...['--collection', collection, '--at', exactTime(time), '--dry-run'],
  ]
    .map(shellQuote)
    .join(' ')
}

interface DialogProps {
  readonly target: RewindTarget
  /** `result` describes the changes; undefined if no document can have changed. */
  readonly onClose: (result: string | undefined) => void
}

function RewindDialog({ target, onClose }: DialogProps) {
  const [counts, setCounts] = useState<RewindCounts | undefined>(undefined)
  const [hasBegun, setBegun] = useState(false)
  const counting = useAction()
  const { progress, begin } = useProgress<{ documents: number }>()
  const run = async (isDryRun: boolean, signal: AbortSignal) => {
    const { counters, stop } = begin({ documents: 0 })
    try {
      return await rewindCollection(target, isDryRun, counters, signal)
    } finally {
      stop()
    }
  }
  const count = () => counting.start(async signal => setCounts(await run(true, signal)))
  useEffect(count, [])
  useEffect(() => guard(() => hasBegun), [hasBegun])
  const rewind = async (signal: AbortSignal) => {
    setBegun(true)
    const made = await run(false, signal)
    onClose(`The rewind ${outcomeText(made, 'deleted', 'created', 'replaced')}.`)
  }
  const changes = counts && counts.deleted + counts.created + counts.replaced
  return (
    <FormDialog
      title={`Rewind ${target.collection}`}
      submit={
        hasBegun ? 'Continue' : `Rewind ${changes === undefined ? 'documents' : documentsText(changes)}`
      }
      isDangerous
      hasNoInput
      isReady={changes !== undefined && changes > 0}
      onClose={() => onClose(hasBegun ? 'The rewind has stopped. Rewind again to continue.' : undefined)}
      onSubmit={rewind}
    >
      <p>
        All documents of <bdi>{target.collection}</bdi> return to their state at{' '}
        <Instant micros={target.time} />.
      </p>
      <p role="status">
        {counts === undefined || hasBegun
          ? `${progress?.documents ?? 0} documents processed…`
          : `The rewind ${outcomeText(counts, 'deletes', 'creates', 'replaces')}.`}
      </p>
      {counts !== undefined && counts.deleted > 0 && (
        <p>
          Documents that did not exist at this time are deleted. The tokens of deleted users stop working.
        </p>
      )}
      {counting.error && <Problem error={counting.error} retry={count} />}
    </FormDialog>
  )
}

function outcomeText(counts: RewindCounts, deletes: string, creates: string, replaces: string): string {
  const { created, deleted, expired, kept, replaced } = counts
  const end = expired === 0 ? '' : `; ${expired} have expired since and stay deleted`
  return `${deletes} ${deleted}, ${creates} ${created} and ${replaces} ${replaced} documents; ${kept} unchanged${end}`
}
