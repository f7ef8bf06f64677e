// Reads the parts of a collection definition that affect reads: computed fields, and the index functions of the module.

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

/** A field that is computed on every read. */
type ComputedField = (doc: Doc, call: Call) => Value

/** The parts of one collection's definition. */
interface SchemaParts {
  readonly computed: ReadonlyMap<string, ComputedField>
  /** True if the current query has written the definition. */
  readonly isWrittenHere: boolean
  /**
   * The module of the collection under one of its names. `name` is the collection's own name, `as` the name in the
   * query.
   */
  companion(name: string, as: string): UserCollection
}

/** The cached parts of a collection definition. `collection` is the collection's own document. */
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

/** A computed field may read, unless its caller has a stricter limit. */
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
