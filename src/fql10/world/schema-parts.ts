// What the definition of a collection adds to its companion and to its documents: functions that read its indexes, fields
// that are computed.

import { upsert } from '../../base/upsert.ts'
import { uncounted } from '../../model/read.ts'
import { ownIndexes } from '../../model/schema/collection-indexes.ts'
import { namedIn, textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { native, type Ref, TransactionTime } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { companionMembers } from '../library/collection.ts'
import { nativeModule } from '../library/natives.ts'
import { Doc, Lambda, UserCollection, type Value } from '../value.ts'
import { bodyOf } from './bodies.ts'
import { indexFunction } from './index-functions.ts'

/** A field that is computed whenever it is read. */
type ComputedField = (doc: Doc, call: Call) => Value

/** The parts of one collection's definition. */
interface SchemaParts {
  readonly computed: ReadonlyMap<string, ComputedField>
  /** Whether it is this query that has written the definition. */
  readonly isWrittenHere: boolean
  /** The companion as which the collection is reached by a name of `as`; its own is `name`. */
  companion(name: string, as: string): UserCollection
}

/** What the definition of a collection says; `collection` is its own document. */
export function schemaPartsOf(collection: Ref, session: Session): SchemaParts {
  const { catalogue } = session.transaction
  const all = catalogue.derived(collection.database, 'parts', () => new Map<bigint, SchemaParts>())
  return upsert(all, collection.id, () => readParts(collection, session))
}

function readParts(collection: Ref, session: Session): SchemaParts {
  const { transaction } = session
  const version = uncounted(transaction, () => transaction.get(collection))
  const definition = version?.fields
  const name = textIn(definition, 'name') ?? ''
  const computed = new Map<string, ComputedField>()
  for (const [field, spec] of namedIn(definition, 'computed_fields')) {
    const body = textIn(spec, 'body')
    if (body !== undefined) computed.set(field, computedField(body, `*computed_field:${name}:${field}*`))
  }
  const indexes = [...ownIndexes(collection, session).values()].map(indexFunction)
  const companions = new Map<string, UserCollection>()
  return {
    computed,
    isWrittenHere: version?.ts instanceof TransactionTime,
    companion: (own, as) =>
      upsert(companions, as, () => {
        const document = new Doc(collection, nativeModule(native.collections), { name: own })
        return new UserCollection(as, companionMembers(as, indexes), document)
      }),
  }
}

/** It may read, unless it is read where not even that is allowed. */
function computedField(body: string, source: string): ComputedField {
  return (doc, call) => {
    const own = bodyOf(body, source)
    const limit =
      call.limit === undefined || call.limit.effect === 'write'
        ? ({ effect: 'read', place: 'computed fields' } as const)
        : call.limit
    return call.evaluation.apply(new Lambda(own.node, own.source, undefined), [doc], call.as({ limit }))
  }
}
