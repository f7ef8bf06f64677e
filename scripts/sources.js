// What the built forms of the sources are built from, told by a hash: whoever finds one that was built from other sources
// does not use it. Plain JavaScript, because `npm ci` may run it on a Node that knows no TypeScript.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('..', import.meta.url))

/** Paths of all files at a path, those of folders within it too; none where there is nothing. */
export function filesIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (stat.isFile()) return [path]
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

/** SHA-256 over the names and contents of files and folders of the repository, in hexadecimal. */
export function hashOf(paths) {
  const hash = createHash('sha256')
  const files = paths.flatMap(path => filesIn(join(repository, path)))
  for (const file of files.sort()) {
    hash.update(file.slice(repository.length)).update('\0').update(readFileSync(file))
  }
  return hash.digest('hex')
}

/** The folder of the program that is built from the sources as they are, whether or not it was built. */
export function programFolder() {
  const hash = hashOf(['src', 'scripts/build-program.js', 'package-lock.json'])
  return join(repository, 'dist', `program-${hash.slice(0, 32)}`)
}

/** The program's first file: the built one if there is one of the sources as they are, else the source. */
export function programFile() {
  const built = join(programFolder(), 'main.js')
  return existsSync(built) ? built : join(repository, 'src/cli/main.ts')
}
