// What version 4 adds to the rules by which documents are created.

import type { CreationRules } from '../model/write.ts'
import type { Call } from './definition.ts'
import { speaks } from './dialect.ts'

/** From version 5 on a collection and a document in it cannot be made by the same query. */
export function creationRules({ session }: Call): CreationRules {
  return { refusesNewCollections: speaks(session, '5') }
}
