// Evaluates a computed field for an index. The function sees only the stored fields of its own document, so that the
// index entries can be recomputed at any time. A function that reads anything else fails, and the document gets no
// entry.

import { msg } from '../../base/message.ts'
import type { Session } from '../../model/session.ts'
import { type DocumentValue, isObject, type Ref, type Value as StoredValue } from '../../values/value.ts'
import { Call, type World } from '../call.ts'
import { interpreterOf } from '../evaluate/session-interpreter.ts'
import { deletedCollection } from '../library/natives.ts'
import { isReservedField } from '../schema/field-names.ts'
import { Doc, Lambda, type Struct, type Value } from '../value.ts'
import type { Body } from './bodies.ts'
import { emptyWorld } from './empty-world.ts'
import { runtimeOf, storedOf } from './stored-values.ts'

/** The value of a computed field for a document. Throws a QueryFailure or UnstorableValue without one. */
export function boundValue({ node, source }: Body, document: DocumentValue, session: Session): StoredValue {
  const interpreter = interpreterOf(session, worldOf(document))
  const limit = { effect: 'read', forbids: 'observation', place: 'index bindings' } as const
  const call = new Call(interpreter, undefined, source, undefined, 0, limit)
  const lambda = new Lambda(node, source, undefined)
  return storedOf(interpreter.enter(lambda, [referenceOf(document.ref)], call))
}

/** The collection does not matter, because the function cannot reach it. */
function referenceOf(ref: Ref): Doc {
  return new Doc(ref, deletedCollection)
}

function noSets(call: Call) {
  return call.failure('invalid_effect', msg`Index bindings cannot read sets.`)
}

/** A world that contains a single document. */
function worldOf({ fields, ref: own }: DocumentValue): World {
  const fieldOf = (doc: Doc, name: string, call: Call): Value | undefined => {
    const isOwn = doc.ref.collection === own.collection && doc.ref.id === own.id
    if (!isOwn || name === 'ts') {
      throw call.failure(
        'invalid_effect',
        msg`Index bindings can read only the stored fields of their own document.`,
      )
    }
    const data = fields.get('data')
    const isBeside = name === 'data' || name === 'ttl'
    const inData = isObject(data) && !isReservedField(name) ? data.get(name) : undefined
    const value = isBeside ? fields.get(name) : inData
    return value === undefined ? undefined : runtimeOf(value, referenceOf)
  }
  const allFields = (doc: Doc, call: Call): Struct => {
    throw call.failure(
      'invalid_effect',
      msg`Index bindings cannot read all fields of document ${doc.ref.id}.`,
    )
  }
  const sets: World['sets'] = {
    ...emptyWorld.sets,
    requireIndex: (_collection, call) => {
      throw noSets(call)
    },
    scan: (_set, _from, call) => {
      throw noSets(call)
    },
  }
  return { ...emptyWorld, documents: { ...emptyWorld.documents, fields: allFields, field: fieldOf }, sets }
}
