// Calls user functions in both languages, and converts arguments, results and errors between the languages.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import { authorityOfRole } from '../../model/auth/role.ts'
import { Failure, LanguageError } from '../../model/failure.ts'
import type { Session } from '../../model/session.ts'
import { type CodeLanguageName, codeOf } from '../../values/code.ts'
import type { Lambda, Value as StoredValue } from '../../values/value.ts'
import { BoundCall, type Call } from '../call.ts'
import { argumentScope } from '../evaluate/interpreter.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { Doc, Id, NullValue, typeName, type UserFunction, type Value } from '../value.ts'
import { bodyOf } from './bodies.ts'
import type { DocumentReader } from './documents-read.ts'
import { ArgumentWrapper, runtimeOf, storedOf, UnstorableValue } from './stored-values.ts'
import { permissionDenied } from './write-failures.ts'

/** Implements {@link World.callUser} with a session. */
export function callUser(
  callee: UserFunction,
  args: readonly Value[],
  call: Call,
  session: Session,
  reader: DocumentReader,
): Value | BoundCall {
  const { ref } = callee
  const stored = session.transaction.get(ref)
  if (stored === undefined) throw call.failure('unbound_variable', msg`Unbound variable \`${callee.name}\``)
  const code = codeOf(stored.fields.get('body'))
  const passed = (language: CodeLanguageName) =>
    language === '10' ? args.map(arg => new ArgumentWrapper(arg)) : args.map(toForeignOrFail)
  const request = { action: 'call', resource: ref, argument: () => passed('4'), passed } as const
  if (!session.with({ callSite: call }, () => session.access.allows(request))) throw permissionDenied(call)
  if (code === undefined) return call.nullResult()
  const name = stored.fields.get('name')
  const run = (): Value | BoundCall => {
    if (code.language !== '10') return runForeign(code, args, call, session, reader)
    // The body costs one compute unit, in addition to the cost of the call.
    call.evaluation.compute(1)
    const { node, source } = bodyOf(code.source, `*udf:${name}*`)
    return new BoundCall(node.body, argumentScope(node, args, undefined), call.as({ source }))
  }
  const role = stored.fields.get('role')
  if (role === undefined) return run()
  return session.withAuthority(authorityOfRole(session.transaction, ref.database, role), () => {
    const bound = run()
    if (!(bound instanceof BoundCall)) return bound
    return call.evaluation.evaluate(bound.body, bound.scope, bound.within)
  })
}

function runForeign(
  code: Lambda,
  args: readonly Value[],
  call: Call,
  session: Session,
  reader: DocumentReader,
): Value {
  const { parameters } = code
  const names = typeof parameters === 'string' ? [parameters] : parameters
  const list = args.map((arg, index) => foreignArgument(arg, names[index] ?? `${index}`, call))
  const { at, limit, readTime: validTime, snapshot: pageTime } = call
  // Errors of version 4 name predicates for every kind of limited code of version 10.
  const effects =
    limit === undefined || limit.effect === 'write'
      ? {}
      : ({
          effectLimit: limit.effect === 'pure' ? 'pure' : 'read',
          effectPlace: 'auth predicates',
        } as const)
  try {
    const result = session.with({ validTime, pageTime, ...effects }, () => session.run(code, { list }))
    return runtimeOf(result, ref => reader.document(ref, at))
  } catch (error) {
    throw translateError(error, call, reader)
  }
}

function foreignArgument(arg: Value, parameter: string, call: Call): StoredValue {
  return catchError(
    UnstorableValue,
    () => toForeign(arg),
    ({ value }) => {
      const message = msg`Invalid argument for \`${parameter}\`. FQL v4 does not support \`${typeName(value)}\` values.`
      throw call.failure('invalid_argument', message)
    },
  )
}

function translateError(error: unknown, call: Call, reader: DocumentReader): unknown {
  if (error instanceof QueryFailure) return error
  if (error instanceof Failure) return call.failure('eval_error', msg`${error.message}`)
  if (!(error instanceof LanguageError)) return error
  const { aborted } = error
  if (aborted === undefined) return call.failure('eval_error', msg`${error.message}`)
  const value = runtimeOf(aborted, ref => reader.document(ref))
  const abort = { value, text: typeof value === 'string' ? value : error.message }
  return call.failure('abort', msg`Query aborted.`, [], { abort })
}

/** Throws {@link UnstorableValue} for a value that version 4 does not support. */
function toForeign(value: Value): StoredValue {
  if (value instanceof Id) return value.value
  if (value instanceof Doc) return value.ref
  if (value === null || value instanceof NullValue) return null
  if (Array.isArray(value)) return value.map(toForeign)
  if (value instanceof Map) {
    return new Map(
      Array.from(value as ReadonlyMap<string, Value>, ([name, field]) => [name, toForeign(field)]),
    )
  }
  return storedOf(value)
}

/** Converts a value like {@link toForeign}. Throws a Failure for a value that version 4 does not support. */
export function toForeignOrFail(value: Value): StoredValue {
  return catchError(
    UnstorableValue,
    () => toForeign(value),
    unstorable => {
      throw Failure.of({ kind: 'foreign value', type: typeName(unstorable.value) })
    },
  )
}
