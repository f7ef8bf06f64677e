// Where the files of the program are. It runs from its sources, or from the few files that are built of them
// (`scripts/build-program.js`), all of which lie in one folder.

import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const here = import.meta.url

/** Whether the program runs from built files. */
export const isBuilt = here.endsWith('.js')

/** The package, or the clone of the repository: both this source and what is built of it lie two folders below. */
export const home = new URL('../../', here)

/** A file that is started as a program or thread of its own; `source` is its path in the folder `src`. */
export function programFile(source: string): string {
  const built = source.replace(/^.*\//, '').replace(/\.ts$/, '.js')
  return fileURLToPath(isBuilt ? new URL(built, here) : new URL(`src/${source}`, home))
}

/**
 * Where the runtime keeps what it has compiled of the program, if it may write there: the next start takes half of the time.
 * Not in the folder for temporary files, where any user could put code for others. For `NODE_COMPILE_CACHE`, which an
 * operator may set otherwise.
 */
export const compileCache = fileURLToPath(
  isBuilt ? new URL('compiled', here) : new URL('node_modules/.cache/terrarium', home),
)

/**
 * Starts a program of ours ({@link programFile}) in the runtime of this process, which gets `flags` beside its own. What keeps it
 * from starting is always told by an event; Node throws some of it.
 */
export function startProgram(
  file: string,
  { flags = [], words = [] }: { readonly flags?: readonly string[]; readonly words?: readonly string[] },
  options: SpawnOptions & { readonly env: NodeJS.ProcessEnv },
): ChildProcess {
  // A worker of node:cluster would hand on that it is one.
  const env = { ...options.env, NODE_UNIQUE_ID: undefined }
  try {
    return spawn(process.execPath, [...process.execArgv, ...flags, file, ...words], { ...options, env })
  } catch (cause) {
    const child = new ChildProcess()
    process.nextTick(() => child.emit('error', cause))
    return child
  }
}
