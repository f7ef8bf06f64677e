// Runs stored code of version 10 outside a query of version 10: functions called by version 4, predicates and checks
// called by the model.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import type { CodeArguments } from '../../model/code-arguments.ts'
import type { EffectPlace } from '../../model/effect.ts'
import type { CodeLanguage, Session } from '../../model/session.ts'
import type { SourceCode } from '../../values/code.ts'
import { DocumentValue, isArray as isStoredArray, type Value as StoredValue } from '../../values/value.ts'
import { Call, type CallEffect } from '../call.ts'
import type { Interpreter } from '../evaluate/interpreter.ts'
import { interpreterOf } from '../evaluate/session-interpreter.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { requireCount } from '../library/invoke.ts'
import { parseQuery } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'
import { Lambda, typeName } from '../value.ts'
import { boundValue } from './bindings.ts'
import { bodyOf } from './bodies.ts'
import { DataWorld } from './data-world.ts'
import { logLinesOf } from './log-output.ts'
import { storedOf, UnstorableValue } from './stored-values.ts'
import { foreignOrFailure } from './user-functions.ts'

/** Implements stored code of version 10. Arguments and results are stored values. */
export const storedCode: CodeLanguage<'10'> = {
  predicatesTakeDocuments: true,
  run(code, given, session) {
    const { validTime } = session
    // From here on, the calls have the read time: code may return to the present and write there.
    return session.withValidTime(undefined, () => run(code, given, session, validTime))
  },
  facts: ({ source }) => ({ parameters: bodyOf(source, '*body*').node.parameters.length, effect: 'write' }),
  isCode({ source }) {
    return catchError(
      QueryFailure,
      () => bodyOf(source, '*body*') !== undefined,
      () => false,
    )
  },
}

/** Runs the code for {@link storedCode}. `at` is the time of reads; undefined is the present. */
function run(
  { isExpression, name = '*body*', source: text }: SourceCode,
  given: CodeArguments,
  session: Session,
  at: number | undefined,
): StoredValue {
  const one = 'one' in given ? given.one : undefined
  if (session.effectPlace === 'index bindings' && one instanceof DocumentValue) {
    return storable(() => boundValue(bodyOf(text, name), one, session))
  }
  const world = new DataWorld(session)
  const interpreter = interpreterOf(session, world, { logLines: logLinesOf(session) })
  if (isExpression) {
    const program = parseQuery(new Source(name, text), [])
    const call = callOf(interpreter, program.source, session, at)
    return storable(() => storedOf(interpreter.evaluate(program.body, undefined, call)))
  }
  const { node, source } = bodyOf(text, name)
  const open = node.rest !== undefined
  const args = argumentsOf(given, node.parameters.length, open).map(each =>
    'list' in given && given.areVersions ? world.version(each) : world.runtime(each, at),
  )
  const arity = { counts: [node.parameters.length], open }
  const call = callOf(interpreter, source, session, at)
  requireCount(arity, args.length, call)
  const result = foreignOrFailure(interpreter.enter(new Lambda(node, source, undefined), args, call))
  world.finish()
  return result
}

/** The outermost call of the code, with the effect limit of the session. */
function callOf(interpreter: Interpreter, source: Source, session: Session, at: number | undefined): Call {
  const { effectLimit, effectPlace } = session
  const limit =
    effectPlace === undefined || effectLimit === 'write'
      ? undefined
      : ({ effect: effectIn(effectPlace, effectLimit), place: effectPlace } as const)
  return new Call(interpreter, undefined, source, undefined, 0, limit, at)
}

/** Default values may observe the time and create ids. */
function effectIn(place: EffectPlace, effect: 'pure' | 'read'): CallEffect {
  return place === 'default values' ? 'observation' : effect
}

/** Returns the result of `work`, and converts UnstorableValue to a QueryFailure. */
function storable(work: () => StoredValue): StoredValue {
  return catchError(UnstorableValue, work, ({ value }) => {
    const message = msg`Value has type ${typeName(value)}, which cannot be persisted`
    throw new QueryFailure('invalid_type', message, [])
  })
}

/** The list of arguments. A call from version 4 passes several arguments as an array. */
function argumentsOf(given: CodeArguments, count: number, isOpen: boolean): readonly StoredValue[] {
  if ('list' in given) return given.list
  const { one } = given
  if (!isStoredArray(one)) return [one]
  return count === 0 && !isOpen && one.length === 0 ? [] : one
}
