// Runs commands for the schema of a database, for the tests of `terrarium schema`.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../support/command.ts'
import { rootQuery } from '../support/http.ts'
import type { ProgramResult } from '../support/program.ts'
import type { RunningServer } from '../support/server.ts'

/** The commands, with the root secret of `server`. Schema files are in folders below `folder`. */
export function schemaCommands(server: RunningServer, folder: string) {
  const environment = () => ({ TERRARIUM_URL: server.url, TERRARIUM_SECRET: server.rootSecret })

  function run(...words: string[]): Promise<ProgramResult> {
    return runCommand(words, environment())
  }

  /** Runs a query that must succeed; returns what `eval` prints. */
  async function evaluate(database: string, query: string): Promise<string> {
    const { status, stdout, stderr } = await run('eval', '--database', database, query)
    assert.equal(status, 0, stderr)
    return stdout.trimEnd()
  }

  /** Creates a database, and a folder of the same name with schema files; returns the folder. */
  async function databaseWith(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    await rootQuery(server, { create_database: { object: { name } } })
    const place = join(folder, name)
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(place, path, '..'), { recursive: true })
      await writeFile(join(place, path), text)
    }
    return place
  }

  return { environment, run, evaluate, databaseWith }
}

/** The texts of all files in a folder. */
export async function contents(place: string): Promise<Record<string, string>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map(file => readFile(file, 'utf8')))
  return Object.fromEntries(files.map((file, at) => [file.slice(place.length + 1), texts[at] as string]))
}
