// Bundles the program of `src` into a few files, which start with half of the CPU time of some eight hundred sources.
// In a clone, the name of the bundle's folder in `dist` is the hash of the sources, so a bundle of other sources is
// never run (`scripts/sources.js`). Runs after `npm ci` and before `npm start`; `scripts/build-package.js` builds the
// npm package. Without the tools (`npm ci --omit=dev`) nothing is built, and the sources run directly.

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

/** Started by path: the command, its processes and threads, and the package for programs. */
const entries = [
  'cli/main.ts',
  'app/slow-lane-main.ts',
  'app/backup-main.ts',
  'model/auth/bcrypt-thread.ts',
  'storage/log/apply-thread.ts',
  'app/index.ts',
]

/** Older bundles to keep, because a service may still be running from them. */
const earlierKept = 1

/**
 * Replaces imports of Node's modules by lookups. An `import` evaluates every export of a module, even those that Node
 * loads lazily. For `node:http` alone, these include a client for `fetch` and take 70 ms of a start.
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
    if (missed) throw new Error(`unsupported form of an import: ${missed[0]}`)
    // The number of lines stays the same, so the source map stays valid.
    return { code: rewritten, map: null }
  },
}

/** The folder must not exist. Resolves with false without the tools. */
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
    // Another process may have built the same bundle.
    if (!existsSync(folder)) throw cause
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
  return true
}

/** A source map is only used for positions in stack traces. */
function leaveOutSources(file) {
  const { sourcesContent: _, ...map } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify(map))
}

/** Removes earlier bundles, except the newest {@link earlierKept}. */
function removeEarlier(current) {
  const dist = dirname(current)
  const earlier = readdirSync(dist)
    .filter(name => /^program-[0-9a-f]{32}$/.test(name) && name !== basename(current))
    .map(name => ({ path: join(dist, name), madeMs: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { path } of earlier.slice(earlierKept)) rmSync(path, { recursive: true, force: true })
}

// The npm package contains the bundle and no sources.
if (import.meta.filename === process.argv[1] && existsSync(join(repository, 'src'))) {
  const folder = programFolder()
  if (!existsSync(folder) && (await buildProgram(folder))) removeEarlier(folder)
}
