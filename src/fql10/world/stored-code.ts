// Runs stored code of version 10 outside a query of version 10: functions that version 4 calls, and predicates, checks,
// default values and computed fields of indexes that the model evaluates.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import { epoch } from '../../base/micros.ts'
import type { CodeArguments } from '../../model/code-interface.ts'
import type { CodeLanguage, Session } from '../../model/session.ts'
import type { SourceCode } from '../../values/code.ts'
import {
  DocumentValue,
  isObject,
  isArray as isStoredArray,
  type Ref,
  type Value as StoredValue,
} from '../../values/value.ts'
import { Call, type CallEffect, type ReadTimes, type World } from '../call.ts'
import { Interpreter } from '../evaluate/interpreter.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { deletedCollection } from '../library/natives.ts'
import { isReservedField } from '../schema/field-names.ts'
import { parseQuery } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'
import { Doc, Lambda, type Struct, typeName, type Value } from '../value.ts'
import { type Body, bodyOf } from './bodies.ts'
import { DataWorld } from './data-world.ts'
import { logLinesOf } from './log-output.ts'
import { runtimeOf, storedOf, UnstorableValue } from './stored-values.ts'
import { toForeignOrFail } from './user-functions.ts'

function nowhere(): never {
  const message = msg`Documents are not available here.`
  throw new QueryFailure('disabled_feature', message, [{ name: 'error', message, span: undefined }])
}

/** A world without data, the base for the world of an index binding. */
export const emptyWorld: World = {
  names: { global: () => undefined, collection: nowhere, userFunction: nowhere, definitionOf: nowhere },
  documents: {
    absence: () => undefined,
    fields: () => new Map(),
    storedText: () => undefined,
    field: () => undefined,
    hintUncovered: () => undefined,
    byId: nowhere,
    byName: nowhere,
    collectionOf: nowhere,
  },
  writer: { create: nowhere, change: nowhere, remove: nowhere },
  access: {
    credentialOf: nowhere,
    tokensOf: nowhere,
    verify: nowhere,
    login: nowhere,
    identity: () => undefined,
    token: () => undefined,
    isProtected: () => false,
    isTypechecked: () => false,
  },
  sets: { requireSomeRead: nowhere, scan: () => [], mayReadSome: nowhere, pathsOf: nowhere },
  sealing: {
    database: 0n,
    resultTime: () => epoch,
    writeTime: () => undefined,
    cursorKey: new Uint8Array(),
    sourceKey: new Uint8Array(),
  },
  callUser: () => null,
}

/**
 * Evaluates a computed field for an index. The function can read only the stored fields of the indexed document, so
 * that the index entries can be recomputed at any time. If the function reads anything else, or the value cannot be
 * stored, throws a QueryFailure or an UnstorableValue, and the document gets no entry.
 */
function bindingValue({ node, source }: Body, document: DocumentValue, session: Session): StoredValue {
  const interpreter = new Interpreter(session, worldOf(document))
  const limit = { effect: 'read', forbids: 'observation', place: 'index bindings' } as const
  const call = new Call(interpreter, undefined, source, undefined, 0, limit)
  const lambda = new Lambda(node, source, undefined)
  return storedOf(interpreter.enter(lambda, [referenceOf(document.ref)], call))
}

/** The collection of the value is a placeholder, because the function cannot read the collection. */
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
    const isTopLevel = name === 'data' || name === 'ttl'
    const inData = isObject(data) && !isReservedField(name) ? data.get(name) : undefined
    const value = isTopLevel ? fields.get(name) : inData
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
    requireSomeRead: (_collection, call) => {
      throw noSets(call)
    },
    scan: (_set, _from, call) => {
      throw noSets(call)
    },
  }
  return { ...emptyWorld, documents: { ...emptyWorld.documents, fields: allFields, field: fieldOf }, sets }
}

/** Runs stored code. Arguments and results are stored values. */
export const storedCode: CodeLanguage<'10'> = {
  predicatesTakeDocuments: true,
  run(code, given, session) {
    const { pageTime: snapshot, validTime } = session
    const at = validTime === snapshot ? undefined : validTime
    // The read times are removed from the session, and passed to the calls of the code instead. A session with a read
    // time rejects all writes, but an `at` block in the code may return to the present and write.
    const present = { validTime: undefined, pageTime: undefined }
    return session.with(present, () => run(code, given, session, { at, snapshot }))
  },
  properties: ({ source }) => ({
    parameters: bodyOf(source, '*body*').node.parameters.length,
    // The actual effects are known only when the code runs.
    effect: 'write',
  }),
  isValid({ source }) {
    return catchError(
      QueryFailure,
      () => bodyOf(source, '*body*') !== undefined,
      () => false,
    )
  },
}

function run(
  { isExpression, name = '*body*', source: text }: SourceCode,
  given: CodeArguments,
  session: Session,
  times: ReadTimes,
): StoredValue {
  const one = 'one' in given ? given.one : undefined
  if (session.effectPlace === 'index bindings' && one instanceof DocumentValue) {
    return storable(() => bindingValue(bodyOf(text, name), one, session))
  }
  const world = new DataWorld(session)
  const interpreter = new Interpreter(session, world, { logLines: logLinesOf(session) })
  if (isExpression) {
    const program = parseQuery(new Source(name, text), [])
    const call = callOf(interpreter, program.source, session, times)
    return storable(() => storedOf(interpreter.evaluate(program.body, undefined, call)))
  }
  const { node, source } = bodyOf(text, name)
  const args = argumentsOf(given).map(each =>
    'list' in given && given.areVersions ? world.version(each) : world.runtime(each, times.at),
  )
  const call = callOf(interpreter, source, session, times)
  const result = toForeignOrFail(interpreter.enter(new Lambda(node, source, undefined), args, call))
  world.finish()
  return result
}

function callOf(interpreter: Interpreter, source: Source, session: Session, times: ReadTimes): Call {
  const { effectLimit, effectPlace } = session
  // Default values may observe the time and create ids.
  const effect: CallEffect = effectPlace === 'default values' ? 'observation' : effectLimit
  const limit =
    effectPlace === undefined || effectLimit === 'write' ? undefined : { effect, place: effectPlace }
  return new Call(interpreter, undefined, source, undefined, 0, limit).reading(times)
}

/** Converts UnstorableValue to a QueryFailure. */
function storable(work: () => StoredValue): StoredValue {
  return catchError(UnstorableValue, work, ({ value }) => {
    const message = msg`Value has type ${typeName(value)}, which cannot be persisted`
    throw new QueryFailure('invalid_type', message, [])
  })
}

/** A call from version 4 passes several arguments as one array. */
function argumentsOf(given: CodeArguments): readonly StoredValue[] {
  if ('list' in given) return given.list
  return isStoredArray(given.one) ? given.one : [given.one]
}
