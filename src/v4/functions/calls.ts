// Calling user functions.

import { authorityOfRole } from '../../auth/role.ts'
import { type ErrorEntry, errorEntry, QueryError } from '../../errors.ts'
import { type Lambda, native, Ref, type Value } from '../../values/value.ts'
import { anyValue, nameOrRef } from '../arguments.ts'
import { type Call, define, family, mismatch, optional, required, undefinedReference } from '../definition.ts'
import { applyStored } from '../evaluate.ts'
import { permissionDenied } from '../permissions.ts'
import { resolveName } from '../references.ts'
import { resourceOf } from '../resources/kinds.ts'
import { notFound } from '../write.ts'

export const calls = family('Calls', [
  define({
    name: 'call',
    effect: 'pure',
    staticEffect: 'write',
    compute: 0,
    arguments: { call: required(nameOrRef), arguments: optional(anyValue) },
    result: 'Any',
    summary: 'Runs a user function, with the rights of its role or else those of the caller.',
    example: ['{"call": "double", "arguments": 21}', '42'],
    evaluate(args, call) {
      const { arguments: given = [], call: target } = args
      return callFunction(functionOf(target, call), given, call)
    },
  }),
])

function functionOf(target: string | Ref, call: Call): Ref {
  if (target instanceof Ref) {
    if (target.collection === native.functions) return target
    throw mismatch('Identifier', target, call, 'call')
  }
  const resolved = resolveName('function', target, undefined, call.evaluation)
  if (resolved instanceof Ref) return resolved
  throw undefinedReference(resolved, call, 'call')
}

function callFunction(ref: Ref, given: Value, call: Call): Value {
  const { access, transaction } = call.evaluation
  const stored = transaction.get(ref)
  if (!stored) throw notFound(resourceOf(native.functions), call, 'call')
  if (!access.allows({ action: 'call', resource: ref, argument: () => given, asker: call }))
    throw permissionDenied(call)
  const body = stored.fields.get('body') as Lambda
  const run = () => applyStored(body, given, call.evaluation, () => call.position())
  const role = stored.fields.get('role')
  return wrappingErrors(call, () =>
    role === undefined
      ? run()
      : call.evaluation.withAuthority(authorityOfRole(transaction, ref.database, role), run),
  )
}

/** What fails inside a function is the cause of the call's own error; only a full stack goes through as it is. */
function wrappingErrors(call: Call, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    const cause: readonly ErrorEntry[] = error.errors
    if (cause.length === 1 && cause[0]?.code === 'stack overflow') throw error
    const description = 'Calling the function resulted in an error.'
    throw new QueryError([errorEntry('call error', description, call.position(), { cause })])
  }
}
