// What the parts of the integrity check share.

import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import type { StoreCatalogue } from './catalogue.ts'
import type { CheckStep } from './contract.ts'
import type { Snapshot } from './snapshot.ts'
import type { VersionReader } from './version-reader.ts'

/** What the parts of a check share. */
export interface CheckContext {
  readonly snapshot: Snapshot
  readonly catalogue: StoreCatalogue
  readonly reader: VersionReader
  /** The databases that can be reached. */
  readonly databases: ReadonlySet<DatabaseId>
  /** Deleted schema objects whose belongings wait to be removed, as `nameRef` names them. */
  readonly garbage: ReadonlySet<string>
  readonly minimumOf: (database: DatabaseId, collection: CollectionId) => Micros
  /** Whether everything that falls out of the history has its mark: a folder of before may still be on its way to that. */
  readonly isMarked: boolean
  readonly report: (finding: string) => void
  /** Told of each row that is looked at. */
  readonly looked: (step: CheckStep) => void
}

/** A reference in a finding. */
export function nameRef(ref: Pick<Ref, 'database' | 'collection' | 'id'>): string {
  return `document ${ref.id} of collection ${ref.collection} in database ${ref.database}`
}
