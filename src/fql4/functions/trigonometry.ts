// Trigonometry, exponentials and logarithms. Always doubles; angles are in radians.

import { msg } from '../../base/message.ts'
import { number } from '../arguments.ts'
import { numberText } from '../arithmetic.ts'
import { define, family, optional, unary } from '../definition.ts'

/** The domain of a function, and the error for values outside of it. NaN is never in the domain. */
interface Domain {
  readonly holds: (value: number) => boolean
  readonly rule: string
}

const everything: Domain = { holds: () => true, rule: '' }
const cosines: Domain = {
  holds: value => value >= -1 && value <= 1,
  rule: 'must be between -1 and 1 inclusive',
}
const positive: Domain = { holds: value => value > 0, rule: 'must be greater than 0' }

function ofDouble(
  name: string,
  summary: string,
  example: readonly [argument: string, answer: string],
  compute: (value: number) => number,
  domain = everything,
) {
  return unary(name, number, {
    result: 'Double',
    summary,
    example,
    evaluate(given, call) {
      const value = Number(given)
      if (!domain.holds(value)) throw call.invalid(msg`${numberText(given)} ${domain.rule}`)
      return compute(value)
    },
  })
}

/** The constants of java.lang.Math, which determine the results that clients expect. */
const degreesPerRadian = 57.29577951308232
const radiansPerDegree = 0.017453292519943295

export const trigonometry = family('Trigonometry', [
  ofDouble('acos', 'The angle that has this cosine.', ['1', '0.0'], Math.acos, cosines),
  ofDouble('asin', 'The angle that has this sine.', ['0', '0.0'], Math.asin, cosines),
  ofDouble('atan', 'The angle that has this tangent.', ['0', '0.0'], Math.atan),
  ofDouble('cos', 'The cosine of an angle.', ['0', '1.0'], Math.cos),
  ofDouble('cosh', 'The hyperbolic cosine.', ['0', '1.0'], Math.cosh),
  ofDouble(
    'degrees',
    'An angle in degrees.',
    ['3.141592653589793', '180.0'],
    angle => angle * degreesPerRadian,
  ),
  ofDouble('exp', 'The number e raised to a power.', ['0', '1.0'], Math.exp),
  define({
    arguments: { hypot: number, b: optional(number) },
    result: 'Double',
    summary:
      'The long side of a right triangle from its two short sides; the second is as long as the first if not given.',
    example: ['{"hypot": 3, "b": 4}', '5.0'],
    evaluate: ({ b, hypot }) => Math.hypot(Number(hypot), Number(b ?? hypot)),
  }),
  ofDouble('ln', 'The natural logarithm.', ['1', '0.0'], Math.log, positive),
  ofDouble('log', 'The logarithm to the base of ten.', ['1000', '3.0'], Math.log10, positive),
  define({
    arguments: { pow: number, exp: optional(number) },
    result: 'Double',
    summary: 'A number raised to a power; squared if none is given.',
    example: ['{"pow": 2, "exp": 10}', '1024.0'],
    evaluate: ({ exp, pow }) => Number(pow) ** Number(exp ?? 2n),
  }),
  ofDouble(
    'radians',
    'An angle in radians.',
    ['180', '3.141592653589793'],
    angle => angle * radiansPerDegree,
  ),
  ofDouble('sin', 'The sine of an angle.', ['0', '0.0'], Math.sin),
  ofDouble('sinh', 'The hyperbolic sine.', ['0', '0.0'], Math.sinh),
  ofDouble('tan', 'The tangent of an angle.', ['0', '0.0'], Math.tan),
  ofDouble('tanh', 'The hyperbolic tangent.', ['0', '0.0'], Math.tanh),
])
