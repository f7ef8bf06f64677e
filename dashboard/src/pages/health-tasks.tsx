// Backups and integrity checks: the last result, the progress of a running task, and a button that starts a task.

import type { CompletedTask, ServiceHealth, TaskNote } from '../../../src/server/operation/health.ts'
import { Button } from '../parts/button.tsx'
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

export function Backups({ health, reload }: TasksProps) {
  const { backups, starts: canStartTasks, tasks } = health
  return (
    <section aria-labelledby="backups">
      <header class="section-head">
        <h2 id="backups">Backups</h2>
        {canStartTasks && backups && (
          <StartButton kind="backup" text="Back up now" task={tasks.backup} onStarted={reload} />
        )}
      </header>
      <p class="hint">
        A backup contains all databases as of one transaction, without the root secret and the query log.
        Queries continue during a backup. Restore a backup with <code>terrarium restore</code>.
      </p>
      {!backups && (
        <p>
          No backup folder is configured. To start backups here, start the service with{' '}
          <code>--backups FOLDER</code>. Otherwise run <code>terrarium backup</code>.
        </p>
      )}
      <ContinuousBackup backup={health.continuous_backup} />
      <TaskState task={tasks.backup} none="No backup of this data directory is known." />
      {backups && <BackupFolder backups={backups} />}
    </section>
  )
}

/**
 * Renders nothing without a continuous backup. `last_success` is in milliseconds. The restorable times are transaction
 * times, in microseconds.
 */
function ContinuousBackup({ backup }: { backup: ServiceHealth['continuous_backup'] }) {
  if (backup === null) return null
  const { last_success: last, newest_restorable: newest, oldest_restorable: oldest, reason, target } = backup
  return (
    <>
      <p class={reason === null ? '' : 'problem'}>
        Continuous backup to <code>{target}</code>
        {reason === null ? '.' : ' fails: '}
        {reason !== null && <bdi>{reason}</bdi>}
      </p>
      <dl class="record-facts">
        <dt>Last success</dt>
        <dd>{last === null ? 'none since the start' : localTime(last)}</dd>
        <dt>Lag</dt>
        <dd>
          {backup.lag_seconds.toFixed(1)} s, {bytesText(backup.waiting_bytes)} waiting
        </dd>
        <dt>Restorable times</dt>
        <dd>
          {oldest === null || newest === null
            ? 'none until the first base copy is complete'
            : `${localTime(oldest / 1000)} to ${localTime(newest / 1000)}`}
        </dd>
      </dl>
    </>
  )
}

function BackupFolder({
  backups: { folder, free_bytes: free, kept },
}: {
  backups: NonNullable<ServiceHealth['backups']>
}) {
  return (
    <>
      <p>
        Backup folder: <code>{folder}</code>
        {free !== null && ` (${bytesText(free)} free)`}. The service does not delete backups. Delete the
        backups that you no longer need.
      </p>
      {kept.length > 0 && (
        <Table label="Table of backups" columns={['Folder', 'Created', 'Size']}>
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

export function Checks({ health: { starts: canStartTasks, tasks }, reload }: TasksProps) {
  return (
    <section aria-labelledby="checks">
      <header class="section-head">
        <h2 id="checks">Integrity check</h2>
        {canStartTasks && <StartButton kind="check" text="Check now" task={tasks.check} onStarted={reload} />}
      </header>
      <p class="hint">
        A check reads all data as of one transaction and verifies that documents, histories, indexes and the
        change log agree. It runs in a separate process at low priority. The disk space of documents that are
        deleted during the check is freed after the check.
      </p>
      <TaskState task={tasks.check} none="No check of this data directory is known." />
    </section>
  )
}

interface StartProps {
  readonly kind: 'backup' | 'check'
  readonly text: string
  readonly task: TaskNote | null
  readonly onStarted: () => void
}

function StartButton({ kind, text, task, onStarted }: StartProps) {
  const action = useAction()
  const start = () =>
    action.start(async signal => {
      await startTask(kind, signal)
      onStarted()
    })
  return (
    <>
      <Button disabled={action.isRunning || task?.ended === null} onClick={start}>
        {text}
      </Button>
      {action.error && <Problem error={action.error} />}
    </>
  )
}

function TaskState({ task, none }: { task: TaskNote | null; none: string }) {
  if (task === null) return <p>{none}</p>
  if (task.ended === null) return <TaskProgressBar task={task} />
  const { result, failure, ended, succeeded } = task
  if (failure !== null || result === null) {
    return (
      <>
        <p class="problem">
          The last run failed at {localTime(ended)}: <bdi>{failure}</bdi>
        </p>
        {succeeded && <Result title="The last completed run" {...succeeded} />}
      </>
    )
  }
  return <Result title="The last run" result={result} ended={ended} />
}

function Result({ ended, result, title }: CompletedTask & { readonly title: string }) {
  const { bytes, findings, is_good: isGood, place: folder } = result
  return (
    <>
      <p role="status">
        {title} ended at {localTime(ended)}
        {findings === undefined && ': written to '}
        {findings !== undefined && (isGood ? '. No errors were found in ' : '. The check found errors in ')}
        <code>{folder}</code>
        {bytes !== undefined && `, ${bytesText(bytes)}`}
        {findings !== undefined && (isGood ? '.' : ':')}
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
            Keep this data directory unchanged, restore the newest backup from before the errors into another
            directory, and report a bug.
          </p>
        </>
      )}
    </>
  )
}

function TaskProgressBar({ task: { progress, started } }: { task: TaskNote }) {
  const share = progress?.share
  return (
    <div role="status">
      <p>
        Running since {localTime(started)}
        {progress && `: ${progress.step}`}
        {share !== undefined && `, ${percentText(share)}`}
      </p>
      <progress aria-label="Progress" {...(share !== undefined && { value: share, max: 1 })} />
    </div>
  )
}
