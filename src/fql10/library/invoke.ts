// Calls library functions. The checks run in this order: the number of arguments, their types, the effect.

import { msg } from '../../base/message.ts'
import { type Arity, acceptsCount, arityOfLambda, arityText, wrongCount } from '../arity.ts'
import type { Call } from '../call.ts'
import { BoundFunction, type FunctionValue, Lambda, typeName, type Value } from '../value.ts'
import { definitionOf, type FunctionDefinition, type Parameter, type Signature } from './entry.ts'

export function arityOf(callee: FunctionValue): Arity {
  if (callee instanceof Lambda) return arityOfLambda(callee.node)
  return callee instanceof BoundFunction ? definitionOf(callee).arity : callee.arity
}

export function requireCount(arity: Arity, count: number, call: Call): void {
  if (!acceptsCount(arity, count)) throw call.failure('invalid_function_invocation', wrongCount(arity, count))
}

/** Errors have the position of the argument list, `call.span`. */
export function invoke(
  definition: FunctionDefinition,
  receiver: Value,
  args: readonly Value[],
  call: Call,
): Value {
  const { signatures, arity } = definition
  requireCount(arity, args.length, call)
  const [only] = signatures
  const [run, checked] =
    signatures.length === 1 && only !== undefined
      ? [only.run, checkAll(only, args, call)]
      : choose(definition, args, call)
  call.requireEffect(definition.effect, `\`${definition.name}\``)
  call.evaluation.compute(1)
  // The casts are safe: the checks guarantee the types of the arguments, and the function comes from the table of the
  // receiver's type.
  return run(receiver as never, checked as never, call)
}

function checkAll({ parameters, rest }: Signature, args: readonly Value[], call: Call): unknown {
  if (rest !== undefined) {
    const [name, parameter] = rest
    return args.map((arg, index) => check(`${name}${index}`, parameter, arg, call))
  }
  const checked: Record<string, unknown> = {}
  for (let index = 0; index < parameters.length; index++) {
    const [name, parameter] = parameters[index] as Signature['parameters'][number]
    checked[name] = check(name, parameter, args[index] as Value, call)
  }
  return checked
}

/** Throws `invalid_argument` for a value of another type, and for a callback with a wrong number of parameters. */
export function check<T>(name: string, parameter: Parameter<T>, arg: Value, call: Call): T {
  const cast = parameter.cast(arg)
  if (cast === undefined) {
    const message = msg`expected value for \`${name}\` of type ${parameter.type}, received ${typeName(arg)}`
    throw call.failure('invalid_argument', message)
  }
  if (parameter.callback !== undefined) checkCallback(name, parameter.callback, cast, call)
  return cast
}

function checkCallback(
  parameter: string,
  { count, name = parameter }: NonNullable<Parameter<unknown>['callback']>,
  given: unknown,
  call: Call,
): void {
  // `given` is a function, because the cast of a callback parameter accepts only functions.
  const arity = arityOf(given as FunctionValue)
  if (acceptsCount(arity, count)) return
  const wanted = `${count} parameter${count === 1 ? '' : 's'}`
  const message = msg`\`${name}\` should accept ${wanted}, provided function requires ${arityText(arity, 'parameter')}.`
  throw call.failure('invalid_argument', message)
}

/** Chooses the first signature that has one parameter for each argument and accepts all arguments. */
function choose(
  definition: FunctionDefinition,
  args: readonly Value[],
  call: Call,
): readonly [Signature['run'], unknown] {
  const fitting = definition.signatures.filter(({ parameters }) => parameters.length === args.length)
  for (const { parameters, run } of fitting) {
    const casts = parameters.map(([, parameter], index) => parameter.cast(args[index] as Value))
    if (casts.includes(undefined)) continue
    for (const [index, [name, { callback }]] of parameters.entries()) {
      if (callback !== undefined) checkCallback(name, callback, casts[index], call)
    }
    return [run, Object.fromEntries(parameters.map(([name], index) => [name, casts[index]]))]
  }
  const types = fitting.map(({ parameters }) => `(${parameters.map(([, { type }]) => type).join(', ')})`)
  const received = `(${args.map(typeName).join(', ')})`
  throw call.failure(
    'invalid_argument',
    msg`expected arguments to \`${definition.name}\` of type ${types.join(' | ')}, received ${received}`,
  )
}
