// Checks the integrity of the stored data, prints the errors, and records the result in the data directory.

import { existsSync } from 'node:fs'
import type { Config } from '../../app/config/settings.ts'
import { openEngine } from '../../app/open-engine.ts'
import type { TaskResult } from '../../server/operation/health.ts'
import { withTaskNote } from '../../server/operation/task-note.ts'
import { openServiceLog } from '../../server/service-log.ts'
import { storeBytes } from '../../storage/log/store-copy.ts'
import { CommandError } from '../command.ts'
import { lowerOwnPriority } from '../own-commands.ts'
import { addressOf, checkReporter, checkShared, isShared } from '../shared-store.ts'
import { printLine } from '../terminal.ts'

/** Resolves with the exit status. */
export async function check(config: Config): Promise<number> {
  lowerOwnPriority()
  if (isShared(config)) return runShared(config)
  if (!existsSync(config.data)) throw new CommandError(`there is no data directory ${config.data}`)
  if (storeBytes(config.data) === 0) throw new CommandError(`there is no data in ${config.data}`)
  const log = openServiceLog(config.logLevel)
  const contradictions = await withTaskNote(
    config.data,
    'check',
    async report => {
      const opened = await openEngine(config, log)
      try {
        return opened.store.check(checkReporter(report))
      } finally {
        await opened.close()
      }
    },
    findings => resultOf(config.data, findings),
  )
  return printReport(config.data, contradictions)
}

function resultOf(place: string, findings: readonly string[]): TaskResult {
  return { is_good: findings.length === 0, place, findings }
}

async function runShared(config: Parameters<typeof checkShared>[0]): Promise<number> {
  const { comparedAt, contradictions } = await withTaskNote(
    config.data,
    'check',
    report => checkShared(config, report),
    checked => resultOf(addressOf(config), checked.contradictions),
  )
  const comparison =
    comparedAt === undefined
      ? `there is no replica in ${config.data} to compare`
      : `the replica in ${config.data} was compared at batch ${comparedAt}`
  process.stdout.write(`${comparison}\n`)
  return printReport(addressOf(config), contradictions)
}

function printReport(name: string, contradictions: readonly string[]): number {
  for (const contradiction of contradictions) printLine(contradiction)
  const summary = contradictions.length === 0 ? 'sound' : `${contradictions.length} contradictions`
  process.stdout.write(`${name}: ${summary}\n`)
  return contradictions.length === 0 ? 0 : 1
}
