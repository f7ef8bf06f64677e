// Writes tests/stored/VERSION.stored: data directories and a backup of this version, which later versions must be able
// to open. Run it before a release, and keep the file.
//
//     npx node scripts/store-content.ts [--program FILE --version VERSION]

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { readContent, writeContent } from '../tests/stored/content.ts'
import { pack } from '../tests/stored/pack.ts'
import { repository } from '../tests/support/program.ts'
import { startProcess, withoutSlowLane } from '../tests/support/server-process.ts'
import { readOptions } from './command-line.ts'

const { values } = readOptions({
  usage: `npx node scripts/store-content.ts [options]

Writes tests/stored/VERSION.stored: data that later versions must be able to open.

  --program FILE      the program that writes the data (bin/terrarium.js)
  --version VERSION   its version (that of package.json)
  --help              prints this text`,
  options: {
    program: { type: 'string', default: join(repository, 'bin/terrarium.js') },
    version: { type: 'string', default: manifest.version },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'terrarium-stored-'))
const [stopped, killed, backup] = ['stopped', 'killed', 'backup'].map(name => join(folder, name)) as [
  string,
  string,
  string,
]
const options = { program: values.program, flags: withoutSlowLane }
const server = await startProcess({ ...options, data: killed })
await writeContent(server)
const answers = await readContent(server)
execFileSync(process.execPath, ['--stack-size=3600', values.program, 'backup', backup, '--data', killed])
await server.kill()
await server.stop().catch(() => undefined)
cpSync(killed, stopped, { recursive: true })
const again = await startProcess({ ...options, data: stopped })
await readContent(again)
await again.stop()
const file = join(repository, `tests/stored/${values.version}.stored`)
pack(folder, answers, file)
rmSync(folder, { recursive: true })
console.log(`wrote ${file}`)
