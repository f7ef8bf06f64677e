// Backups and checks: what came of the last one, how far one under way is, and starting another.

import type { ServiceHealth, TaskNote, TaskSuccess } from '../../../src/server/operation/health.ts'
import { useAction } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { bytesText, percentText } from '../parts/quantities.ts'
import { Table } from '../parts/table.tsx'
import { localTime } from '../parts/time.tsx'
import { startTask } from '../service/health.ts'

interface TasksProps {
  readonly health: ServiceHealth
  readonly reload: () => void
}

/** The sections of backups and checks. */
export function HealthTasks({ health, reload }: TasksProps) {
  return (
    <>
      <Backups health={health} reload={reload} />
      <Checks health={health} reload={reload} />
    </>
  )
}

function Backups({ health, reload }: TasksProps) {
  const { backups, starts, tasks } = health
  return (
    <section aria-labelledby="backups">
      <header class="section-head">
        <h2 id="backups">Backups</h2>
        {starts && backups && (
          <Start kind="backup" text="Back up now" task={tasks.backup} onStarted={reload} />
        )}
      </header>
      <p class="hint">
        A backup holds all databases as of one transaction; everybody goes on meanwhile. Without the root
        secret and the query log. <code>terrarium restore</code> brings it back.
      </p>
      {!backups && (
        <p>
          None can be started here: no folder for them is configured. Start the service with{' '}
          <code>--backups FOLDER</code>, or make them with <code>terrarium backup</code>.
        </p>
      )}
      <TaskState task={tasks.backup} none="The service knows of no backup of this data directory." />
      {backups && <Kept backups={backups} />}
    </section>
  )
}

function Kept({
  backups: { folder, free_bytes: free, kept },
}: {
  backups: NonNullable<ServiceHealth['backups']>
}) {
  return (
    <>
      <p>
        They go to <code>{folder}</code>
        {free !== null && `, where ${bytesText(free)} are free`}. The service removes none: delete those that
        you do not need.
      </p>
      {kept.length > 0 && (
        <Table label="Table of backups" columns={['Folder', 'Made', 'Size']}>
          {kept.map(({ bytes, made, name }) => (
            <tr key={name}>
              <td>
                <bdi>{name}</bdi>
              </td>
              <td>{localTime(made)}</td>
              <td>{bytesText(bytes)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

function Checks({ health: { starts, tasks }, reload }: TasksProps) {
  return (
    <section aria-labelledby="checks">
      <header class="section-head">
        <h2 id="checks">Check of what is stored</h2>
        {starts && <Start kind="check" text="Check now" task={tasks.check} onStarted={reload} />}
      </header>
      <p class="hint">
        It reads everything, as of one moment, and proves that documents, histories, indexes and the record of
        changes agree. It runs in a process of its own, which everybody else goes before. What is deleted
        meanwhile frees its room on the disk afterwards.
      </p>
      <TaskState task={tasks.check} none="The service knows of no check of this data directory." />
    </section>
  )
}

interface StartProps {
  readonly kind: 'backup' | 'check'
  readonly text: string
  readonly task: TaskNote | null
  readonly onStarted: () => void
}

function Start({ kind, text, task, onStarted }: StartProps) {
  const action = useAction()
  const start = () =>
    action.start(async signal => {
      await startTask(kind, signal)
      onStarted()
    })
  return (
    <>
      <button type="button" disabled={action.isRunning || task?.ended === null} onClick={start}>
        {text}
      </button>
      {action.error && <Problem error={action.error} />}
    </>
  )
}

function TaskState({ task, none }: { task: TaskNote | null; none: string }) {
  if (task === null) return <p>{none}</p>
  if (task.ended === null) return <UnderWay task={task} />
  const { result, failure, ended, succeeded } = task
  if (failure !== null || result === null) {
    return (
      <>
        <p class="problem">
          The last one failed at {localTime(ended)}: <bdi>{failure}</bdi>
        </p>
        {succeeded && <Result title="The last successful one" {...succeeded} />}
      </>
    )
  }
  return <Result title="The last one" result={result} ended={ended} />
}

function Result({ ended, result, title }: TaskSuccess & { readonly title: string }) {
  const { bytes, findings, is_good: isGood, place } = result
  return (
    <>
      <p role="status">
        {title} ended at {localTime(ended)}: {findings === undefined ? 'written to ' : 'of '}
        <code>{place}</code>
        {bytes !== undefined && `, ${bytesText(bytes)}`}
        {findings !== undefined && (isGood ? '. It found everything sound.' : '. It found contradictions:')}
      </p>
      {findings !== undefined && !isGood && (
        <>
          <ul class="findings">
            {findings.map(finding => (
              <li key={finding}>
                <bdi>{finding}</bdi>
              </li>
            ))}
          </ul>
          <p>
            Keep the data directory as it is, restore the last good backup beside it, and report this as a
            bug.
          </p>
        </>
      )}
    </>
  )
}

function UnderWay({ task: { progress, started } }: { task: TaskNote }) {
  const share = progress?.share
  return (
    <div role="status">
      <p>
        Under way since {localTime(started)}
        {progress && `: ${progress.step}`}
        {share !== undefined && `, ${percentText(share)}`}
      </p>
      <progress aria-label="Progress" {...(share !== undefined && { value: share, max: 1 })} />
    </div>
  )
}
