// Runs commands for the schema of a database, for the tests of `terrarium schema`.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandsOn } from '../support/command.ts'
import { rootQuery } from '../support/http.ts'
import type { RunningServer } from '../support/server.ts'

/**
 * The commands, with the root secret of `server`. The schema files of a database are in a folder of the same name below
 * `folder`.
 */
export function schemaCommands(server: RunningServer, folder: string) {
  const { run, outputOf } = commandsOn(server)
  const wordsOf = (command: string, name: string, more: readonly string[]) =>
    ['schema', command, join(folder, name), '--database', name, ...more] as const
  const push = (name: string, ...more: string[]) => run(...wordsOf('push', name, more))
  const pull = (name: string, ...more: string[]) => run(...wordsOf('pull', name, more))
  /** A push that must succeed; returns its output. */
  const pushed = (name: string, ...more: string[]) => outputOf(...wordsOf('push', name, more))
  /** A pull that must succeed; returns its output. */
  const pulled = (name: string, ...more: string[]) => outputOf(...wordsOf('pull', name, more))

  /** Runs a query that must succeed; returns what `eval` prints. */
  const evaluate = async (database: string, query: string) =>
    (await outputOf('eval', '--database', database, query)).trimEnd()

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

  return { run, outputOf, push, pushed, pull, pulled, evaluate, databaseWith }
}

/** The texts of all files in a folder. */
export async function contents(place: string): Promise<Record<string, string>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map(file => readFile(file, 'utf8')))
  return Object.fromEntries(files.map((file, at) => [file.slice(place.length + 1), texts[at] as string]))
}
