// Parses the rows of a CSV file.

import { parse as csvParser, type Info } from 'csv-parse'
import type { Cell } from './formats/rows.ts'

interface CsvRow {
  readonly record: readonly Cell[]
  readonly info: Info
}

/** Maximum number of characters of a row: the limit for an element of a JSON file. */
const rowUnitsMax = 33_554_432

/** Passes the chunks to the parser itself, because the parser's browser build does not support async iteration. */
export async function* csvRows(chunks: AsyncIterable<Uint8Array>, delimiter: string): AsyncGenerator<CsvRow> {
  const parser = csvParser({
    bom: true,
    cast: (text, { quoting }) => (text === '' && !quoting ? null : text),
    delimiter,
    info: true,
    max_record_size: rowUnitsMax,
    relax_column_count: true,
    skip_empty_lines: true,
  })
  // No chunk ends within a character, so each is decoded separately. The parser removes the byte order mark.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const found: CsvRow[] = []
  parser.on('data', (row: CsvRow) => found.push(row))
  const ended = new Promise<void>((resolve, reject) => {
    parser.on('end', resolve)
    parser.on('error', reject)
  })
  // Avoids an unhandled rejection before the promise is awaited.
  ended.catch(() => undefined)
  for await (const chunk of chunks) {
    await Promise.race([
      new Promise<void>(taken => parser.write(decoder.decode(chunk), () => taken())),
      ended,
    ])
    yield* found.splice(0)
  }
  parser.end()
  await ended
  yield* found.splice(0)
}
