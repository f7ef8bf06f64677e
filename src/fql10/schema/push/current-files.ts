// The schema files of a database, in line with what is defined there.

import { readSchemaFiles, writeSchemaFiles } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import { type FileText, patchFiles } from '../fsl/patch.ts'
import { definitionsOf } from './definitions.ts'

/** The texts of the items of everything that is defined. */
function itemTexts(session: Session): readonly string[] {
  return definitionsOf(session).flatMap(({ text }) => (text === undefined ? [] : [text]))
}

/** The files as they are when they say what is defined; nothing is stored. */
export function currentFiles(session: Session): readonly FileText[] {
  return patchFiles(readSchemaFiles('active', session), itemTexts(session))
}

/** The same, and what has been changed elsewhere since they were stored is in them from now on. */
export function keepFiles(session: Session): readonly FileText[] {
  const stored = readSchemaFiles('active', session)
  const current = patchFiles(stored, itemTexts(session))
  const isSame =
    stored.length === current.length && current.every(({ text }, index) => stored[index]?.text === text)
  if (!isSame) storeFiles(current, session)
  return current
}

/** Writes what a query has defined into the files that are stored; where there are none they are made when asked for. */
export function keepStoredFiles(session: Session): void {
  if (readSchemaFiles('active', session).length > 0) keepFiles(session)
}

/** Makes these the files of the schema in force. It counts for no query. */
export function storeFiles(files: readonly FileText[], session: Session): void {
  const { counters } = session.transaction
  const { writeBytes, writeOps } = counters
  writeSchemaFiles('active', files, session)
  counters.writeBytes = writeBytes
  counters.writeOps = writeOps
}
