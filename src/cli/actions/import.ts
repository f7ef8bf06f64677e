// Finds the files to import, imports them, and prints a report.

import { createHash } from 'node:crypto'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from '../../app/config/read-config.ts'
import { FieldTypes } from '../../transfer/field-types.ts'
import { ImportState } from '../../transfer/import-state.ts'
import { type ImportOptions, type ImportProgress, runImport } from '../../transfer/importer.ts'
import { findSources } from '../../transfer/sources.ts'
import { jsonText } from '../client/report.ts'
import { CommandError, type Invocation } from '../command.ts'
import { withRate } from '../progress.ts'
import { escapeHidden } from '../terminal.ts'
import { withTransferErrors } from '../transfer-errors.ts'
import type { importOptions } from '../transfer-options.ts'
import { withTarget } from '../transfer-target.ts'

/** Resolves with the exit status. */
export async function run(invocation: Invocation<typeof importOptions>): Promise<number> {
  const { operands, options: given } = invocation
  return withTransferErrors(async () => {
    const types = new FieldTypes()
    for (const text of given.type) types.add(text)
    const schema = given.schema === undefined ? [] : schemaFiles(given.schema)
    const paths = [...schema, ...operands.map(word => resolve(word))]
    const sources = await findSources(paths, {
      collection: given.collection,
      encoding: encodingOf(given.encoding),
    })
    if (sources.files.length === 0 && !sources.isExport)
      throw new CommandError(
        [`there is nothing to import in ${operands.join(', ')}`, ...sources.passedOver].join('\n  '),
      )
    return withTarget(invocation, !given.dryRun, async ({ connection, database }) => {
      const progress: ImportProgress = { readBytes: 0, totalBytes: 0, documents: 0, phase: 'schema' }
      const options: ImportOptions = {
        database,
        types,
        onConflict: given.onConflict,
        dryRun: given.dryRun,
        skipBad: given.skipBad,
        allowIncomplete: given.allowIncomplete,
        allowShortRows: given.allowShortRows,
        hasRowIds: given.rowIds,
        emptyCells: given.treatEmptyCsvCellsAs,
        remember: (identity, continues) =>
          new ImportState(given.state ?? defaultStateFolder(), identity, continues),
        sha256: text => createHash('sha256').update(text).digest(),
        meaning: [
          ...given.type,
          given.schema ?? '',
          given.collection ?? '',
          given.treatEmptyCsvCellsAs,
          given.encoding ?? '',
          // Omitted when unset, so that imports that began before this option existed can continue.
          ...(given.rowIds ? ['row-ids'] : []),
        ],
      }
      const report = await withRate('import', progress, () =>
        runImport(connection, sources, options, progress),
      )
      if (given.report !== undefined) writeFileSync(given.report, report.json())
      process.stdout.write(given.json ? jsonText(report.json(), process.stdout) : escapeHidden(report.text()))
      return 0
    })
  })
}

/** Canonical name of the encoding. Throws {@link UsageError} for an unknown encoding. */
function encodingOf(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding
  } catch {
    throw new UsageError(`--encoding: ${label} is not a known encoding (utf-8, windows-1252, utf-16le …)`)
  }
}

function schemaFiles(path: string): readonly string[] {
  if (!statSync(path, { throwIfNoEntry: false })) throw new CommandError(`${path} does not exist`)
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.fsl'))
  return names.sort().map(name => join(path, name))
}

function defaultStateFolder(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), '.local/state')
  return join(base, 'terrarium/imports')
}
