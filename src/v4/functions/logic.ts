// Logic: combining truth values. Nothing is taken for true or false that is not a Boolean.

import { boolean, lazyList, nonEmptyList } from '../arguments.ts'
import { type Call, define, family, type Lazy, required } from '../definition.ts'
import { typeName } from '../values/tagged.ts'

/** Evaluates operands up to the first that is `decisive`, which then is the result. */
function shortCircuit(operands: readonly Lazy[], decisive: boolean, call: Call, key: string): boolean {
  for (let index = 0; index < operands.length; index++) {
    const value = (operands[index] as Lazy).evaluate()
    if (typeof value !== 'boolean') {
      throw call.invalid(`Boolean expected, ${typeName(value)} provided.`, key, index)
    }
    if (value === decisive) return decisive
  }
  return !decisive
}

/** The two forms that `and` and `or` have had: operands were evaluated all at once before version 3. */
function connective(name: 'and' | 'or', decisive: boolean, summary: string) {
  const answer = String(decisive)
  const common = { name, effect: 'pure', result: 'Boolean' } as const
  return [
    define({
      ...common,
      compute: 0,
      since: '3',
      arguments: { [name]: required(lazyList) },
      summary: `${summary} Operands behind the one that decides are not evaluated.`,
      example: [`{"${name}": [${answer}, {"abort": "not reached"}]}`, answer],
      evaluate: (args, call) => shortCircuit(args[name] as readonly Lazy[], decisive, call, name),
    }),
    define({
      ...common,
      until: '3',
      arguments: { [name]: required(nonEmptyList(boolean)) },
      summary: `${summary} All operands are evaluated.`,
      example: [`{"${name}": [true, false]}`, answer],
      evaluate: args => (args[name] as readonly boolean[]).includes(decisive) === decisive,
    }),
  ]
}

export const logic = family('Logic', [
  ...connective('and', false, 'Whether all operands are true.'),
  ...connective('or', true, 'Whether any operand is true.'),
  define({
    name: 'not',
    effect: 'pure',
    arguments: { not: required(boolean) },
    result: 'Boolean',
    summary: 'The opposite of a truth value.',
    example: ['{"not": true}', 'false'],
    evaluate: args => !args.not,
  }),
])
