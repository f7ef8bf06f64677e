// What must hold of a schema that a query has changed: the same as of schema files that are pushed, told at their text.

import type { Session } from '../../model/session.ts'
import type { Diagnostic } from '../failure/failure.ts'
import { readFile } from '../fsl/patch.ts'
import { currentFiles } from './current-files.ts'
import { othersOf } from './definitions.ts'
import { itemFaults } from './validation.ts'

/** Everything that is wrong in the schema files as they would be. */
export function schemaFaults(session: Session): readonly Diagnostic[] {
  const read = currentFiles(session).map(readFile)
  const faults = read.flatMap(each => each.faults)
  if (faults.length > 0) return faults
  const items = read.flatMap(({ file }) => file.items)
  return itemFaults(items, othersOf(session))
}
