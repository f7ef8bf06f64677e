// The type of collection definitions in version 10.

import {
  anyObject,
  array,
  byName,
  either,
  type ObjectType,
  object,
  optional,
  scalar,
} from '../../model/schema/field-types.ts'
import { indexType, termsType } from './fsl/index-parts.ts'

const [text, flag, count] = [scalar('String'), scalar('Boolean'), scalar('Long')]

const constraint = either(
  object({ check: object({ name: text, body: text }) }),
  object({ unique: either(array(text), termsType) }),
)

const migration = either(
  object({ add: object({ field: text }) }),
  object({ add_wildcard: object({}) }),
  object({ backfill: object({ field: text, value: text }) }),
  object({ drop: object({ field: text }) }),
  object({ move: object({ field: text, to: text }) }),
  object({ move_conflicts: object({ into: text }) }),
  object({ move_wildcard: object({ into: text }) }),
  object({ split: object({ field: text, to: array(text) }) }),
)

/** The type of a definition that a client writes. The type does not contain `status`, which the service adds. */
export const collectionShape: ObjectType = object({
  name: text,
  alias: optional(text),
  history_days: optional(count),
  ttl_days: optional(count),
  document_ttls: optional(flag),
  fields: optional(byName(object({ signature: text, default: optional(text) }))),
  wildcard: optional(text),
  computed_fields: optional(byName(object({ body: text, signature: optional(text) }))),
  indexes: optional(byName(indexType)),
  constraints: optional(array(constraint)),
  migrations: optional(array(migration)),
  data: optional(anyObject),
})
