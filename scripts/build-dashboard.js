// Builds the dashboard into `dashboard/dist`, unless what is there was built from the very same sources. Runs after
// `npm ci` and before `npm start`. Plain JavaScript, because `npm ci` may run it on a Node that knows no TypeScript.
//
// Where the tools are missing (`npm ci --omit=dev`) and nothing is built, the service runs without a dashboard.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { filesIn, hashOf, repository } from './sources.js'

const folder = join(repository, 'dashboard/dist')
/** Says in the built folder what it was built from. */
const stampName = 'sources.sha256'
/** Files and folders that the result depends on. */
const sources = [
  'dashboard/src',
  'dashboard/public',
  'dashboard/index.html',
  'dashboard/vite.config.js',
  'src/base',
  'src/transfer',
  'src/fql4/text',
  'src/fql10/text',
  'src/values',
  'package-lock.json',
]
/** Smaller files gain nothing. */
const compressedFromBytes = 512

function isCurrent(hash) {
  const stamp = join(folder, stampName)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
}

/** Lays a gzip and a brotli form beside every file that gains by it. */
function compress(built) {
  for (const path of filesIn(built)) {
    const content = readFileSync(path)
    if (content.length < compressedFromBytes) continue
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params }))
  }
}

async function build(hash) {
  let vite
  try {
    vite = await import('vite')
  } catch {
    console.error('The dashboard is not built: its tools come with the development dependencies (npm ci).')
    return
  }
  const built = mkdtempSync(`${folder}-`)
  try {
    await vite.build({
      configFile: join(repository, 'dashboard/vite.config.js'),
      build: { outDir: built },
    })
    compress(built)
    publish(built)
    writeFileSync(join(built, stampName), hash)
    renameSync(join(built, stampName), join(folder, stampName))
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
}

/** Puts what was built into the folder, file by file: another process may be doing the same with the same files. */
function publish(built) {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  rmSync(join(folder, stampName), { force: true })
  const names = filesIn(built).map(path => relative(built, path))
  for (const name of names) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    renameSync(join(built, name), path)
  }
  const kept = new Set([...names, stampName])
  for (const path of filesIn(folder)) if (!kept.has(relative(folder, path))) rmSync(path, { force: true })
}

// A package has the built files and no sources.
if (existsSync(join(repository, 'dashboard/src'))) {
  const hash = hashOf(sources)
  if (!isCurrent(hash)) await build(hash)
}
