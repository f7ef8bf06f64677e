// Proves that what is stored is sound, and prints what contradicts that.

import { existsSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'
import { storeBytes } from '../../kv/lmdb-copy.ts'
import { openEngine } from '../../open-engine.ts'
import { openServiceLog } from '../../service-log.ts'
import { StartError } from '../command.ts'
import { addressOf, checkShared, isShared } from '../shared-store.ts'

/** Checks a data directory, or a shared store; resolves with the exit status. */
export async function check(config: Config): Promise<number> {
  if (isShared(config)) return runShared(config)
  if (!existsSync(config.data)) throw new StartError(`there is no data directory ${config.data}`)
  if (storeBytes(config.data) === 0) throw new StartError(`there is no data in ${config.data}`)
  const log = openServiceLog(config.logLevel)
  const opened = await openEngine(config, undefined, log)
  try {
    return report(config.data, opened.check())
  } finally {
    await opened.close()
  }
}

async function runShared(config: Parameters<typeof checkShared>[0]): Promise<number> {
  const { comparedAt, contradictions } = await checkShared(config)
  const copy =
    comparedAt === undefined
      ? `there is no copy in ${config.data} to compare`
      : `the copy in ${config.data} was compared at batch ${comparedAt}`
  process.stdout.write(`${copy}\n`)
  return report(addressOf(config), contradictions)
}

function report(name: string, contradictions: readonly string[]): number {
  for (const contradiction of contradictions) process.stdout.write(`${contradiction}\n`)
  const summary = contradictions.length === 0 ? 'sound' : `${contradictions.length} contradictions`
  process.stdout.write(`${name}: ${summary}\n`)
  return contradictions.length === 0 ? 0 : 1
}
