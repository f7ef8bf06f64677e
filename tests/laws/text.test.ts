// Printed text can be parsed again: a value of version 10 that is printed in the format `decorated`, or by `toString`, is
// a query with this value as its result. Tests of the other texts are with the code that prints them:
// tests/unit/fql4/text (version 4) and tests/unit/fql10/schema/fsl (schema files).

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { texts } from '../support/value-arbitraries.ts'
import { type Tagged, values10 } from './generators/values10.ts'
import { law } from './law.ts'

const server = serverOfFile()

/** These characters are printed as they are, but a query may contain them only as escape sequences. */
const unprintable = /(?![\0\b-\r])[\p{C}\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufff0-\uffff]/u
const strings = texts.filter(text => !unprintable.test(text))
/** Keys of letters that are not in ASCII are printed without quotes, but a query may contain them only in quotes. */
const keys = fc.oneof(
  fc.constantFrom('a', 'if', '@x', 'a b', ''),
  strings.filter(text => !/\P{ASCII}/u.test(text)),
)

law('a printed value of version 10 is a query that returns the value', () => server, {
  input: values10(strings, keys),
  runs: 40,
  async holds(database, value) {
    // A response contains `?` in place of a lone surrogate.
    const expected = (await database.runGiven('given', value)) as Tagged
    const decorated = (await database.runGiven('given', expected, 'decorated')) as string
    // The last newline of a text is not printed.
    if (!decorated.includes('<<-')) assert.deepEqual(await database.run10(`(${decorated})`), expected)
    const printed = (await database.runGiven('[given].toString()', expected)) as string
    assert.deepEqual(await database.run10(printed), [expected])
  },
})
