// The rules for creating documents that are specific to version 4.

import type { CreationRules } from '../model/write.ts'
import type { Call } from './definition.ts'
import { speaks } from './dialect.ts'

/** From version 5 on, a query cannot create both a collection and a document in it. */
export function creationRules({ session }: Call): CreationRules {
  return { refusesNewCollections: speaks(session, '5') }
}
