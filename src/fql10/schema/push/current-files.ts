// Provides and checks the schema files of a database, updated to match its definitions.

import { readSchemaFiles, writeSchemaFiles } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import { type FileText, itemsIn, patchFiles, readFile } from '../fsl/patch.ts'
import { definitionsOf, othersOf } from './stored-definitions.ts'
import { itemFaults } from './validation.ts'

/** The texts of the items of all definitions. */
function itemTexts(session: Session): readonly string[] {
  return definitionsOf(session).flatMap(({ text }) => (text === undefined ? [] : [text]))
}

/** The files that match the current definitions. The files are not stored. */
export function currentFiles(session: Session): readonly FileText[] {
  return patchFiles(readSchemaFiles('active', session), itemTexts(session))
}

/** Updates and stores the files, and returns them. */
export function keepFiles(session: Session): readonly FileText[] {
  const stored = readSchemaFiles('active', session)
  const current = patchFiles(stored, itemTexts(session))
  const isSame =
    stored.length === current.length && current.every(({ text }, index) => stored[index]?.text === text)
  if (!isSame) storeFiles(current, session)
  return current
}

/** Updates stored files after a query has written definitions. Files that were never stored are created on demand. */
export function keepStoredFiles(session: Session): void {
  if (readSchemaFiles('active', session).length > 0) keepFiles(session)
}

/** Stores the files of the active schema. The write does not count as a cost of the query. */
export function storeFiles(files: readonly FileText[], session: Session): void {
  const { counters } = session.transaction
  const { writeBytes, writeOps } = counters
  writeSchemaFiles('active', files, session)
  counters.writeBytes = writeBytes
  counters.writeOps = writeOps
}

/**
 * Checks a schema that a query has changed, by the rules of pushes. Returns all faults in the updated schema files. A
 * stored file with syntax errors does not prevent other writes.
 */
export function schemaFaults(session: Session): readonly Diagnostic[] {
  const stored = new Map(readSchemaFiles('active', session).map(({ name, text }) => [name, text]))
  const current = currentFiles(session)
  const changed = current.filter(({ name, text }) => stored.get(name) !== text)
  const faults = changed.flatMap(file => readFile(file).faults)
  if (faults.length > 0) return faults
  return itemFaults(itemsIn(current), othersOf(session))
}
