// The program's files, its version, and the oldest supported version of Node.js. The program runs from its sources, or
// from a few bundled files in one folder (`scripts/build-program.js`).

import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = import.meta.url

export const isBuilt = here.endsWith('.js')

/** Two folders above this source file, and above the bundled files. */
export const home = new URL('../../', here)

/** The path of a program that runs in its own process or thread. `source`: its path in the folder `src`. */
export function programFile(source: string): string {
  const built = source.replace(/^.*\//, '').replace(/\.ts$/, '.js')
  return fileURLToPath(isBuilt ? new URL(built, here) : new URL(`src/${source}`, home))
}

/**
 * With a compile cache, the next start takes half the time. The folder is not in the temporary folder, where any user
 * could place code that other users would run. `NODE_COMPILE_CACHE` overrides it.
 */
export const compileCache = fileURLToPath(
  isBuilt ? new URL('compiled', here) : new URL('node_modules/.cache/terrarium', home),
)

/**
 * Starts a result of {@link programFile} with the executable and the flags of this process, and also `flags`. Every
 * failure to start becomes an `error` event, even if `spawn` throws.
 */
export function startProgram(
  file: string,
  { flags = [], words = [] }: { readonly flags?: readonly string[]; readonly words?: readonly string[] },
  options: SpawnOptions & { readonly env: NodeJS.ProcessEnv },
): ChildProcess {
  // In a worker of node:cluster, this variable would make the new process a worker as well.
  const env = { ...options.env, NODE_UNIQUE_ID: undefined }
  try {
    return spawn(process.execPath, [...process.execArgv, ...flags, file, ...words], { ...options, env })
  } catch (cause) {
    const child = new ChildProcess()
    process.nextTick(() => child.emit('error', cause))
    return child
  }
}

/**
 * Other programs can read the environment of a process, and the settings contain the root secret. A process with this
 * environment gets its settings in another way.
 */
export function environmentWithoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TERRARIUM_')))
}

const packageFile = new URL('package.json', home)

/** The version in package.json, such as `0.1.0`. */
export const version: string = JSON.parse(readFileSync(packageFile, 'utf8')).version

/**
 * Older versions lack an API without which a service never finishes its start or its shutdown. `engines` of
 * package.json and `bin/terrarium.js` contain the same version.
 */
const [majorMin, minorMin] = [22, 12]

/** Returns undefined for a supported version. `version`: such as `22.12.0`. */
export function nodeVersionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `terrarium-db needs Node.js ${majorMin}.${minorMin} or later; this is ${version}`
}
