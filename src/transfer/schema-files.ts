// Reads dumps of schema objects, in either notation.

import { FieldTypes } from './field-types.ts'
import { languageItems } from './language-files.ts'
import { fileStart, readFileRecords } from './read-file.ts'
import type { Notes, SchemaRecord } from './record.ts'
import type { SourceFile } from './sources.ts'

/** The schema objects of a file that begins with one; none for files of documents and `.fsl` files. */
export async function readSchemaFile(file: SourceFile, notes: Notes): Promise<readonly SchemaRecord[]> {
  const { content } = file
  if (content.kind === 'fql') return createdIn(file)
  if (content.kind !== 'json' || !content.isSchema) return []
  const records: SchemaRecord[] = []
  const elements = readFileRecords(file, fileStart, {
    notes,
    types: new FieldTypes(),
    isCollection: () => true,
    isUserCollection: () => false,
    hasRowIds: false,
    emptyCells: 'empty',
    allowShortRows: true,
    count: () => undefined,
  })
  for await (const { records: found } of elements) {
    for (const record of found) if (record.kind === 'schema') records.push(record)
  }
  return records
}

async function createdIn(file: SourceFile): Promise<readonly SchemaRecord[]> {
  const records: SchemaRecord[] = []
  for await (const item of languageItems(file)) if (item.kind === 'schema') records.push(item.record)
  return records
}
