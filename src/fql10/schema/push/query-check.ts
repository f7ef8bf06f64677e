// What must hold of a schema that a query has changed: the same as of schema files that are pushed, told at their text.

import { readSchemaFiles } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/failure.ts'
import { itemsIn, readFile } from '../fsl/patch.ts'
import { currentFiles } from './current-files.ts'
import { othersOf } from './definitions.ts'
import { itemFaults } from './validation.ts'

/** Everything that is wrong in the schema files as they would be. A file that could not be read before hinders no write. */
export function schemaFaults(session: Session): readonly Diagnostic[] {
  const stored = new Map(readSchemaFiles('active', session).map(({ name, text }) => [name, text]))
  const current = currentFiles(session)
  const changed = current.filter(({ name, text }) => stored.get(name) !== text)
  const faults = changed.flatMap(file => readFile(file).faults)
  if (faults.length > 0) return faults
  return itemFaults(itemsIn(current), othersOf(session))
}
