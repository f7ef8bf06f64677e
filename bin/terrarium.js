#!/usr/bin/env -S node --stack-size=3600 --max-semi-space-size=32 --v8-pool-size=0
// Starts the program: the bundle of an installed package, or in a clone the bundle of its sources, or the sources
// themselves.
//
// The flags: queries may nest a thousand levels deep, so the stack (in KiB) has room for them even in code that V8 has
// not optimized yet. A young generation of twice the usual size (in MiB) is collected half as often, which saves a
// fifth of a read's CPU time. V8 gets one thread fewer than there are CPUs (0): with its usual four, the threads
// without a CPU prolong garbage collections.

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

/**
 * An installed package contains only the built program. A clone has `scripts/sources.js`, which finds the bundle of its
 * current sources.
 */
async function programFile() {
  const sources = new URL('../scripts/sources.js', import.meta.url)
  if (existsSync(sources)) return (await import(sources.href)).programFile()
  return fileURLToPath(new URL('../dist/program/main.js', import.meta.url))
}

await import(pathToFileURL(await programFile()).href)
