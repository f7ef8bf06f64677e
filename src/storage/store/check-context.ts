// Defines the data that all classes of the integrity check use.

import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import type { StoreCatalogue } from './catalogue.ts'
import type { Snapshot } from './snapshot.ts'
import type { CheckStep } from './store-contract.ts'
import type { VersionReader } from './version-reader.ts'

export interface CheckContext {
  readonly snapshot: Snapshot
  readonly catalogue: StoreCatalogue
  readonly reader: VersionReader
  /** The root database and all databases that are reachable as its descendants. */
  readonly databases: ReadonlySet<DatabaseId>
  /** The results of `nameRef` for deleted schema objects whose data has not been removed yet. */
  readonly garbage: ReadonlySet<string>
  readonly minimumOf: (database: DatabaseId, collection: CollectionId) => Micros
  readonly report: (finding: string) => void
  readonly onStep: (step: CheckStep) => void
}

/** Text for a finding. */
export function nameRef(ref: Pick<Ref, 'database' | 'collection' | 'id'>): string {
  return `document ${ref.id} of collection ${ref.collection} in database ${ref.database}`
}
