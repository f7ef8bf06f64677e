// Checks a schema that a query has changed, by the rules of schema pushes. Errors have positions in the schema files.

import { readSchemaFiles } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/failure.ts'
import { itemsIn, readFile } from '../fsl/patch.ts'
import { currentFiles } from './current-files.ts'
import { othersOf } from './definitions.ts'
import { itemFaults } from './validation.ts'

/** All faults in the updated schema files. A stored file with syntax errors does not prevent other writes. */
export function schemaFaults(session: Session): readonly Diagnostic[] {
  const stored = new Map(readSchemaFiles('active', session).map(({ name, text }) => [name, text]))
  const current = currentFiles(session)
  const changed = current.filter(({ name, text }) => stored.get(name) !== text)
  const faults = changed.flatMap(file => readFile(file).faults)
  if (faults.length > 0) return faults
  return itemFaults(itemsIn(current), othersOf(session))
}
