// Builds the dashboard into `dashboard/dist`, unless the folder was built from the same sources. Runs after `npm ci`
// and before `npm start`. The script is plain JavaScript, because `npm ci` may run it with a Node that cannot run
// TypeScript.
//
// Without the tools (`npm ci --omit=dev`) nothing is built, and the service runs without a dashboard.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { dashboardSources, filesIn, hashOf, repository } from './sources.js'

const folder = join(repository, 'dashboard/dist')
/** Name of a file in the built folder, which contains the hash of the sources. */
const stampName = 'sources.sha256'
/** Compressing smaller files saves nothing. */
const compressedFromBytes = 512

function isCurrent(hash) {
  const stamp = join(folder, stampName)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
}

/** Writes a gzip and a brotli variant beside every larger file. */
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

/** Moves the files one by one, because another process may do the same with the same files. */
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

// The npm package contains the built files and no sources.
if (existsSync(join(repository, 'dashboard/src'))) {
  const hash = hashOf(dashboardSources)
  if (!isCurrent(hash)) await build(hash)
}
