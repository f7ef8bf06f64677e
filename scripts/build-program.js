// Builds the program of `src` into few files: starting from those takes half of the processor time that some eight hundred
// sources take. A clone has it in a folder of `dist` that is named after the hash of the sources, so one that was built from
// others is never run (`scripts/sources.js`). Runs after `npm ci` and before `npm start`; an npm package is built by
// `scripts/build-package.js`. Where the tools are missing (`npm ci --omit=dev`) the sources run as they are.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { filesIn, programFolder, repository } from './sources.js'

/** What is started by its name: the command, the processes and threads that it starts, the package for programs. */
const entries = ['cli/main.ts', 'app/slow-lane-main.ts', 'model/auth/bcrypt-thread.ts', 'app/index.ts']

/** Files that a service of an earlier state of the sources may still be running from. */
const earlierKept = 1

/**
 * Imports of what Node brings become look-ups. An `import` of a module of Node makes every export of it, also those that are
 * loaded when they are first asked for: of `node:http` alone these are a client for `fetch` and 70 ms of a start.
 */
const lookUpBuiltins = {
  name: 'look-up-builtins',
  renderChunk(code) {
    const imports = /^import (?:(\w+)(?:, )?)?(?:\* as (\w+)|\{ ([^}]*) \})? ?from "(node:[^"]+)";$/gm
    const rewritten = code.replace(imports, (_, whole, space, names, id) => {
      const wholes = [whole, space].filter(Boolean)
      const named = (names ?? '')
        .split(', ')
        .filter(Boolean)
        .flatMap(name => {
          const [exported, local = exported] = name.split(' as ')
          if (exported === 'default') wholes.push(local)
          return exported === 'default' ? [] : [exported === local ? local : `${exported}: ${local}`]
        })
      const module = `process.getBuiltinModule("${id}")`
      const statements = wholes.map(name => `const ${name} = ${module};`)
      if (named.length > 0) statements.push(`const { ${named.join(', ')} } = ${module};`)
      return statements.join(' ')
    })
    const missed = /^(?:im|ex)port .* from "node:.*$/m.exec(rewritten)
    if (missed) throw new Error(`an import of a form that is not known here: ${missed[0]}`)
    // A line stays a line, which is all that the map of the sources needs.
    return { code: rewritten, map: null }
  },
}

/** Builds the program into a folder that must not exist; false where the tools are missing. */
export async function buildProgram(folder) {
  let vite
  try {
    vite = await import('vite')
  } catch {
    return false
  }
  mkdirSync(dirname(folder), { recursive: true })
  const built = mkdtempSync(`${folder}-`)
  try {
    await vite.build({
      configFile: false,
      root: repository,
      logLevel: 'warn',
      publicDir: false,
      plugins: [lookUpBuiltins],
      build: {
        ssr: true,
        outDir: built,
        target: 'node22.12',
        minify: false,
        sourcemap: true,
        reportCompressedSize: false,
        rolldownOptions: {
          input: Object.fromEntries(
            entries.map(entry => [basename(entry, '.ts'), join(repository, 'src', entry)]),
          ),
          output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
        },
      },
    })
    for (const file of filesIn(built)) if (file.endsWith('.map')) leaveOutSources(file)
    renameSync(built, folder)
  } catch (cause) {
    // Another process may have built the same.
    if (!existsSync(folder)) throw cause
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
  return true
}

/** Maps are for the places in stack traces. */
function leaveOutSources(file) {
  const { sourcesContent: _, ...map } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify(map))
}

/** Removes what was built from sources of earlier, all but the newest of it. */
function removeEarlier(current) {
  const dist = dirname(current)
  const earlier = readdirSync(dist)
    .filter(name => /^program-[0-9a-f]{32}$/.test(name) && name !== basename(current))
    .map(name => ({ path: join(dist, name), madeMs: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { path } of earlier.slice(earlierKept)) rmSync(path, { recursive: true, force: true })
}

// A package has what was built and no sources.
if (import.meta.filename === process.argv[1] && existsSync(join(repository, 'src'))) {
  const folder = programFolder()
  if (!existsSync(folder) && (await buildProgram(folder))) removeEarlier(folder)
}
