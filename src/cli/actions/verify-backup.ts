// Proves that a continuous backup can be restored: restores it to a temporary folder and checks the result. Without a time,
// it also checks that no object of the history is missing.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../app/config/settings.ts'
import { checkHistory } from '../../backup/catalogue.ts'
import { openTarget } from '../../backup/open-target.ts'
import type { Micros } from '../../base/micros.ts'
import { restoreFrom } from '../backup-folder.ts'
import { check } from './check.ts'

/** Verifies the backup at the address `from`, at a time or its newest state; resolves with the exit status. */
export async function verify(from: string, at: Micros | undefined, config: Config): Promise<number> {
  const data = await mkdtemp(join(tmpdir(), 'terrarium-verify-'))
  try {
    const within = { ...config, data, store: undefined }
    const { bytes, time } = await restoreFrom(from, at, within)
    process.stdout.write(`restored ${bytes} bytes as of transaction time ${time}\n`)
    if (at === undefined) await checkHistory(await openTarget(from))
    return await check(within)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
