// The shared data of the parts of the integrity check.

import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import type { StoreCatalogue } from './catalogue.ts'
import type { Snapshot } from './snapshot.ts'
import type { CheckStep } from './store-contract.ts'
import type { VersionReader } from './version-reader.ts'

/** The shared data of one check. */
export interface CheckContext {
  readonly snapshot: Snapshot
  readonly catalogue: StoreCatalogue
  readonly reader: VersionReader
  /** The databases that can be reached. */
  readonly databases: ReadonlySet<DatabaseId>
  /** Deleted schema objects whose data waits to be removed, as text of `nameRef`. */
  readonly garbage: ReadonlySet<string>
  readonly minimumOf: (database: DatabaseId, collection: CollectionId) => Micros
  /** True if all data that expires has a due mark. In an older data directory, marks may be missing. */
  readonly isMarked: boolean
  readonly report: (finding: string) => void
  /** Called for each row that is checked. */
  readonly onStep: (step: CheckStep) => void
}

/** A reference in a finding. */
export function nameRef(ref: Pick<Ref, 'database' | 'collection' | 'id'>): string {
  return `document ${ref.id} of collection ${ref.collection} in database ${ref.database}`
}
