// Identifies built files by a hash of their sources, so that a build of other sources is not used. The script is plain
// JavaScript, because `npm ci` may run it with a Node that cannot run TypeScript.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('..', import.meta.url))

/** The files and folders on which the built dashboard depends. A tidy test compares them with its imports. */
export const dashboardSources = [
  'dashboard/src',
  'dashboard/public',
  'dashboard/index.html',
  'dashboard/vite.config.js',
  'src/base',
  'src/fql10/failure',
  'src/fql10/schema',
  'src/fql10/syntax',
  'src/fql10/text',
  'src/fql10/typing',
  'src/fql4/text',
  'src/fql4/wire',
  'src/graphql/wire',
  'src/model/auth/access-contract.ts',
  'src/model/failure.ts',
  'src/model/schema',
  'src/storage/kv/store-errors.ts',
  'src/storage/store/store-contract.ts',
  'src/transfer',
  'src/values',
  'package-lock.json',
]

/** Includes subfolders; empty if the path does not exist. */
export function filesIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (stat.isFile()) return [path]
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

/** SHA-256 of names and contents in the repository, in hexadecimal. */
export function hashOf(paths) {
  const hash = createHash('sha256')
  const files = paths.flatMap(path => filesIn(join(repository, path)))
  for (const file of files.sort()) {
    hash.update(file.slice(repository.length)).update('\0').update(readFileSync(file))
  }
  return hash.digest('hex')
}

/** The bundle for the current sources may not exist. */
export function programFolder() {
  const hash = hashOf(['src', 'scripts/build-program.js', 'package-lock.json'])
  return join(repository, 'dist', `program-${hash.slice(0, 32)}`)
}

/** The bundle if it was built from the current sources, else the source. */
export function programFile() {
  const built = join(programFolder(), 'main.js')
  return existsSync(built) ? built : join(repository, 'src/cli/main.ts')
}
