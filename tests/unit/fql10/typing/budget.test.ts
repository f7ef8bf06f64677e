// Checks of programs with exponentially large or deeply nested types end within their budget, and reject nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsSoFar } from '../../../../src/base/effort.ts'
import { parseQuery } from '../../../../src/fql10/syntax/parse-query.ts'
import { Source } from '../../../../src/fql10/syntax/source.ts'
import { checkQuery } from '../../../../src/fql10/typing/check-query.ts'
import { libraryNames, libraryShapes } from '../../../../src/fql10/typing/library.ts'

const environment = {
  global: (name: string) => libraryNames.get(name),
  shape: (name: string) => libraryShapes.get(name),
}

function check(text: string) {
  const before = stepsSoFar()
  const { errors, type } = checkQuery(parseQuery(new Source('*query*', text), []), environment, new Map(), [])
  return { type, errors, steps: stepsSoFar() - before }
}

const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at))

const programs: Readonly<Record<string, readonly [text: string, type: string]>> = {
  'a sum of 2 000 numbers': [repeat(2000, () => '1').join(' + '), 'Number'],
  'a sum of 2 000 parameters': [`x => ${repeat(2000, () => 'x').join(' + ')}`, 'Any'],
  'twelve independent overloads': [
    `(${repeat(12, at => `a${at}`).join(', ')}) => [${repeat(12, at => `a${at} + a${at}`).join(', ')}]`,
    'Any',
  ],
  'two hundred compositions': [
    `${repeat(200, at => `let f${at} = x => ${at === 0 ? 'x' : `f${at - 1}(f${at - 1}(x))`}`).join('\n')}\nf199`,
    'Any',
  ],
  'types that double': [
    `${repeat(22, at => `let f${at} = x => ${at === 0 ? '[x, x]' : `[f${at - 1}(x), f${at - 1}(x)]`}`).join('\n')}\nf21`,
    'Any',
  ],
  'a wide array': [
    `[${repeat(5000, at => `${at}`).join(', ')}].map(x => x + 1).map(x => x * 2)`,
    'Array<Number>',
  ],
  'a recursive type': ['(x => x(x))(x => x(x))', 'Never'],
}

for (const [name, [text, expected]] of Object.entries(programs)) {
  test(`the check ends: ${name}`, () => {
    const { errors, steps, type } = check(text)
    assert.deepEqual(errors, [])
    assert.equal(type, expected)
    assert.ok(steps < 5_200_000, `${steps} steps`)
  })
}
