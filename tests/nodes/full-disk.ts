// Preloaded into a node by `--import`: while the file in FULL_DISK_MARK exists, the system reports no free space on any
// disk.

import fs, { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { statfsSync } = fs
const mark = process.env.FULL_DISK_MARK as string

fs.statfsSync = ((folder: string) => {
  const found = statfsSync(folder)
  return existsSync(mark) ? Object.assign(found, { bavail: 0 }) : found
}) as typeof statfsSync
syncBuiltinESMExports()
