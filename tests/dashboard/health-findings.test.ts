// The warnings of the Health page about backups, integrity checks and builds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findingsIn } from '../../dashboard/src/service/health-findings.ts'
import type {
  ContinuousBackupReport,
  PendingWorkReport,
  ServiceHealth,
  TaskNote,
} from '../../src/server/operation/health.ts'

const dayMs = 86_400_000
const nowMs = 1000 * dayMs

const continuous: ContinuousBackupReport = {
  ...{ target: 's3://bucket', state: 'running', reason: null, pid: 1, lag_seconds: 0 },
  ...{ last_success: nowMs, waiting_since: null, waiting_bytes: 0, dropped_bytes: 0, uploaded_bytes: 9 },
  ...{ oldest_restorable: 1, newest_restorable: 2 },
}

const noBackup =
  'No backup of this data directory is known. See Backups below. Ignore this warning if you use another backup method.'

const note = (kind: TaskNote['kind'], fields: Partial<TaskNote>): TaskNote => ({
  ...{ kind, pid: 1, started: nowMs, seen: nowMs, progress: null, ended: nowMs },
  ...{ result: { is_good: true, place: '/d' }, failure: null, succeeded: null },
  ...fields,
})

const backupOf = (days: number) => note('backup', { ended: nowMs - days * dayMs })

/** The findings in a report with a new backup and without a continuous backup, changed by `tasks` and `other`. */
function findings(tasks: Partial<ServiceHealth['tasks']>, other: Partial<ServiceHealth> = {}) {
  const health: ServiceHealth = {
    ...{
      version: '1',
      node: 'n',
      workers: 1,
      processes: [],
      duration_bounds: [],
      backups: null,
      starts: true,
    },
    work: { builds: [], builds_count: 0, removals: 0 },
    tasks: { backup: backupOf(1), check: null, ...tasks },
    continuous_backup: null,
    ...other,
  }
  return findingsIn(health, [], nowMs)
}

test('without a continuous backup, a missing or old backup causes a warning', () => {
  assert.deepEqual(findings({}), [])
  assert.deepEqual(findings({ backup: null }), [noBackup])
  assert.deepEqual(findings({ backup: backupOf(7) }), [])
  assert.deepEqual(findings({ backup: backupOf(9) }), ['The last known backup is 9 days old.'])
})

test('with a continuous backup, neither a missing nor an old backup causes a warning', () => {
  const other = { continuous_backup: continuous }
  assert.deepEqual(findings({ backup: null }, other), [])
  assert.deepEqual(findings({ backup: backupOf(9) }, other), [])
  const failing = { ...continuous, state: 'failing', reason: 'no access' } as const
  const expected = ['The continuous backup fails: no access']
  assert.deepEqual(findings({ backup: null }, { continuous_backup: failing }), expected)
})

test('a failed backup causes a warning, also with a continuous backup', () => {
  const tasks = { backup: note('backup', { result: null, failure: 'no room' }) }
  assert.deepEqual(findings(tasks), ['The last backup failed: no room'])
  assert.deepEqual(findings(tasks, { continuous_backup: continuous }), ['The last backup failed: no room'])
})

test('a check that failed or found errors causes a warning', () => {
  const failed = note('check', { result: null, failure: 'no memory' })
  assert.deepEqual(findings({ check: failed }), ['The last integrity check failed: no memory'])
  const bad = note('check', { result: { is_good: false, place: '/d' } })
  const expected = ['The last integrity check found errors. See Integrity check below.']
  assert.deepEqual(findings({ check: bad }), expected)
  assert.deepEqual(findings({ check: note('check', {}) }), [])
})

test('a build that cannot finish causes a warning', () => {
  const build = { database: ['shop'], name: 'wide', share: 0.5, failure: 'too wide' }
  const builds: PendingWorkReport['builds'] = [
    { ...build, kind: 'index' },
    { ...build, kind: 'collection' },
    { ...build, kind: 'index', failure: null },
  ]
  assert.deepEqual(findings({}, { work: { builds, builds_count: 3, removals: 0 } }), [
    'The index shop/wide cannot be built. See Background work below.',
    'The documents of the collection shop/wide cannot be rewritten. See Background work below.',
  ])
})
