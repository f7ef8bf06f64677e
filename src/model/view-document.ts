// Converts stored documents to the form in responses: removes internal fields, and adds fields such as the status of
// indexes.

import { checkedByDefaultField, historyFloorField, migrationField } from '../storage/store/definitions.ts'
import type { Version } from '../storage/store/store-contract.ts'
import { encodeGlobalId } from '../values/names.ts'
import {
  type CollectionId,
  DocumentValue,
  firstUserCollection,
  native,
  type ObjectValue,
  type Value,
} from '../values/value.ts'
import { withStatus } from './schema/collection-indexes.ts'
import type { Session } from './session.ts'

/** Internal fields, by native collection. */
const hiddenFields: Partial<Record<CollectionId, ReadonlySet<string>>> = {
  [native.databases]: new Set(['scope', 'account', 'disabled', checkedByDefaultField]),
  [native.collections]: new Set([historyFloorField, migrationField]),
  [native.indexes]: new Set(['hidden']),
  [native.credentials]: new Set(['hashed_password', 'password', 'current_password']),
}

/** `created`: this query created the document. */
export function viewDocument(version: Version, session: Session, created = false): DocumentValue {
  const fields = visibleFields(version, session)
  // The render cache is valid only for the fields from which it was created, but `version` can be a copy of a
  // cached version with other fields.
  const renderCache = version.renderCache?.fields === fields ? version.renderCache : undefined
  return new DocumentValue(version.ref, version.ts, fields, created, renderCache)
}

/** Returns the fields of a version for responses, in stored order. */
export function visibleFields({ ref, fields }: Version, session: Session): ObjectValue {
  if (ref.collection >= firstUserCollection) return fields
  const visible = withoutHidden(fields, hiddenFields[ref.collection])
  if (ref.collection === native.collections) return withStatus(ref, visible, session)
  if (ref.collection !== native.access_providers) return visible
  const audience: Value = `${session.host.settings.audiencePrefix}${encodeGlobalId(ref.database)}`
  return new Map([...visible, ['audience', audience]])
}

function withoutHidden(fields: ObjectValue, hidden: ReadonlySet<string> | undefined): ObjectValue {
  if (hidden === undefined || ![...hidden].some(name => fields.has(name))) return fields
  return new Map([...fields].filter(([name]) => !hidden.has(name)))
}
