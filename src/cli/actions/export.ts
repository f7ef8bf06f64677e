// Exports a database, or a part of it, to files, and prints a summary.

import { resolve } from 'node:path'
import { systemRandom } from '../../base/random.ts'
import { type ExportOptions, type ExportProgress, runExport } from '../../transfer/exporter.ts'
import { formatMicros } from '../../values/time.ts'
import type { Invocation } from '../command.ts'
import { withRate } from '../progress.ts'
import { escapeHidden, quantity } from '../terminal.ts'
import { timeOf } from '../time-argument.ts'
import type { exportOptions } from '../transfer-options.ts'
import { withTarget } from '../transfer-target.ts'

/** Resolves with the exit status. */
export async function run(invocation: Invocation<typeof exportOptions>): Promise<number> {
  const { operands, options: given } = invocation
  return withTarget(invocation, false, async ({ connection, database }) => {
    const folder = resolve(operands[0] ?? '')
    const progress: ExportProgress = { readBytes: 0, totalBytes: 0, documents: 0, phase: '' }
    const options: ExportOptions = {
      database,
      format: given.format,
      fileFormat: given.files,
      gzip: given.gzip,
      history: given.history,
      at: given.at === undefined ? undefined : timeOf(given.at),
      collections: given.collection,
      id: String(BigInt(`0x${systemRandom.hex(7)}`)),
    }
    const { at, databases, documents, lost } = await withRate('export', progress, () =>
      runExport(connection, folder, options, progress),
    )
    const time = formatMicros(at)
    const content = `${quantity(documents, 'document')} of ${quantity(databases, 'database')}`
    process.stdout.write(`exported ${content} as of ${time}\n`)
    for (const [what, count] of lost) process.stdout.write(escapeHidden(`lost: ${what}: ${count}\n`))
    return 0
  })
}
