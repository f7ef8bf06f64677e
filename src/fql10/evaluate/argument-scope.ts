// Binds arguments to the parameters of a lambda.

import type { LambdaNode } from '../syntax/nodes.ts'
import { Scope, type Value } from '../value.ts'

/** The scope for a lambda's body. The caller has checked the number of arguments. */
export function argumentScope(
  { parameters, rest }: LambdaNode,
  args: readonly Value[],
  outer: Scope | undefined,
): Scope | undefined {
  let scope = outer
  for (let index = 0; index < parameters.length; index++) {
    const name = parameters[index] as string
    if (name !== '_') scope = new Scope(name, args[index] as Value, scope)
  }
  if (rest === undefined || rest === '_') return scope
  return new Scope(rest, args.slice(parameters.length), scope)
}
