// The folder with the segments of the query log. Versions before 1.0 have their segments in the folder `segments`. They
// cannot read newer segments, and would return incomplete results without an error. So the folder has a new name, and a
// file replaces the old folder: earlier versions then fail to start.

import { readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../base/folders.ts'
import { sumsFolder } from './segment-files.ts'

export const recordFolder = 'records'

const earlierFolder = 'segments'
const notice = `The query log is in the folder ${recordFolder}. Versions before 1.0 cannot read it. To use such a version without
the records, remove this file.
`

/**
 * Creates the folder if it is missing, and moves the segments of an earlier version into it. Several processes may call
 * this function at the same time.
 */
export function makeRecordFolder(queryLogFolder: string): void {
  const folder = join(queryLogFolder, recordFolder)
  const earlier = join(queryLogFolder, earlierFolder)
  makeFolder(folder, 0o700)
  for (const name of namesIn(earlier)) {
    // Sums are computed again.
    if (name === sumsFolder) rmSync(join(earlier, name), { recursive: true, force: true })
    else ignoring(['ENOENT', 'ENOTDIR'], () => renameSync(join(earlier, name), join(folder, name)))
  }
  ignoring(['ENOENT', 'ENOTDIR', 'ENOTEMPTY'], () => rmdirSync(earlier))
  ignoring(['EISDIR'], () => writeFileSync(earlier, notice, { mode: 0o600 }))
}

function namesIn(folder: string): readonly string[] {
  return ignoring(['ENOENT', 'ENOTDIR'], () => readdirSync(folder)) ?? []
}

/** Returns the result of `work`; undefined if it fails with one of the given system errors. */
function ignoring<T>(codes: readonly string[], work: () => T): T | undefined {
  try {
    return work()
  } catch (cause) {
    if (codes.includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined
    throw cause
  }
}
