#!/usr/bin/env -S node --stack-size=3600 --max-semi-space-size=32 --v8-pool-size=0
// The package's command. An installed package holds the built program; a clone of the repository runs its sources,
// which newer Nodes execute as they are, or what is built of these. Queries may nest a thousand levels deep; the larger stack (in KiB) has room
// for them in code that has not been optimized yet. The larger young generation (twice the usual, in MiB) is collected
// half as often, while as little of it is alive: a read takes a fifth less processor time. And the runtime's own threads are one
// fewer than the processors (0 means that): of its usual four, those without a processor make its pauses longer.

import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [majorMin, minorMin] = [22, 12]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < majorMin || (major === majorMin && minor < minorMin)) {
  console.error(
    `terrarium needs Node.js ${majorMin}.${minorMin} or later; this is ${process.versions.node}. ` +
      'Get a newer one from nodejs.org, or run it with: npx -p node@26 -p terrarium-db terrarium',
  )
  process.exit(1)
}

/** A package brings nothing but the built program; a clone runs it if it was built from the sources as they are. */
async function programFile() {
  const sources = new URL('../scripts/sources.js', import.meta.url)
  if (existsSync(sources)) return (await import(sources.href)).programFile()
  return fileURLToPath(new URL('../dist/program/main.js', import.meta.url))
}

await import(pathToFileURL(await programFile()).href)
