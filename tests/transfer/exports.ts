// Exports of a test's database, and a description of all its content.

import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type ExportOptions, runExport } from '../../src/transfer/exporter.ts'
import type { TestDatabase } from './importing.ts'

/** Exports the database `moved` to a folder of that name in the test's folder; resolves with its path. */
export async function exportTo(
  database: TestDatabase,
  name: string,
  options: Partial<ExportOptions> = {},
): Promise<string> {
  const folder = join(database.folder, name)
  const all: ExportOptions = {
    database: ['moved'],
    format: 'tagged',
    fileFormat: 'jsonl',
    gzip: false,
    history: false,
    id: '1',
    ...options,
  }
  await runExport(database.connection, folder, all, { readBytes: 0, totalBytes: 0, documents: 0, phase: '' })
  return folder
}

/** The texts of all files below a folder by their paths; the names of the run are replaced. */
export async function contentOf(folder: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
    content[relative(folder, path)] = text.replace(/"(?:snapshot_ts|export_id|task_id)": "[^"]*"/g, '""')
  }
  return content
}
