// Installs packed packages with npm into an empty folder, as users do.

import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '../support/program.ts'

export const run = promisify(execFile)

/** The environment without the variables of the surrounding `npm test`, which would make npm work in the repository. */
export const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|cache|userconfig))/i.test(name)),
)

/** Packs the packages of these parts of the repository, and installs them with other `words` into a folder. */
export async function installPacked(
  folder: string,
  parts: readonly string[],
  words: readonly string[],
): Promise<void> {
  for (const part of parts) {
    const pack = ['pack', '--silent', '--pack-destination', folder]
    await run('npm', pack, { cwd: join(repository, part), env: environment })
  }
  const tarballs = (await readdir(folder)).filter(name => name.endsWith('.tgz'))
  await writeFile(join(folder, 'package.json'), '{"name": "application", "private": true, "type": "module"}')
  const files = tarballs.map(name => join(folder, name))
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...files, ...words]
  await run('npm', install, { cwd: folder, env: environment })
}
