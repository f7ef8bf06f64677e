// Calls of user functions.

import { msg } from '../../base/message.ts'
import { LanguageError } from '../../model/failure.ts'
import { callFunction } from '../../model/functions.ts'
import { native, Ref, type Value } from '../../values/value.ts'
import { anyValue, nameOrRef } from '../arguments.ts'
import { type Call, define, family, mismatch, optional, undefinedReference } from '../definition.ts'
import { type ErrorEntry, QueryError } from '../errors.ts'
import { resolveName } from '../references.ts'
import { abortText } from '../refusals.ts'

export const calls = family('Calls', [
  define({
    staticEffect: 'write',
    compute: 0,
    arguments: { call: nameOrRef, arguments: optional(anyValue) },
    result: 'Any',
    summary: 'Runs a user function, with the rights of its role or else those of the caller.',
    example: ['{"call": "double", "arguments": 21}', '42'],
    evaluate(args, call) {
      const { arguments: given = [], call: target } = args
      const ref = functionOf(target, call)
      return wrappingErrors(call, () => callFunction(ref, { one: given }, call.session))
    },
  }),
])

function functionOf(target: string | Ref, call: Call): Ref {
  if (target instanceof Ref) {
    if (target.collection === native.functions) return target
    throw mismatch('Identifier', target, call, 'call')
  }
  const resolved = resolveName('function', target, undefined, call.session)
  if (resolved instanceof Ref) return resolved
  throw undefinedReference(resolved, call, 'call')
}

/** Converts errors inside the function to the cause of a `call error`. Only a stack overflow is passed on unchanged. */
function wrappingErrors(call: Call, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error
    // An error of another language.
    if (!(error instanceof QueryError)) throw call.error('transaction aborted', msg`${abortText(error)}`)
    const cause: readonly ErrorEntry[] = error.errors
    if (cause.length === 1 && cause[0]?.code === 'stack overflow') throw error
    const description = msg`Calling the function resulted in an error.`
    throw QueryError.of('call error', description, call.position(), { cause })
  }
}
