// The temporary folder of a test file.

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** New and empty; removed after the file's last test. Call this once, at the top of the file. */
export function folderOfFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-test-'))
  // A process that exits a moment later may still create a file.
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** Returns a function that creates empty folders, which are removed after the file's last test. */
export function foldersOfFile(): () => string {
  const parent = folderOfFile()
  return () => mkdtempSync(join(parent, 'folder-'))
}

/** Returns a function that returns new paths, at which nothing exists, in a folder of the file. */
export function pathsOfFile(): () => string {
  const parent = folderOfFile()
  let paths = 0
  return () => join(parent, String(paths++))
}
