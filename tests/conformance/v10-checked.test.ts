// Plays the conformance cases of `v10/` with checks of static types: each case gives the same results as without checks,
// or a query or a schema is rejected. `refused-when-checked.json` lists the rejected cases with their first error. They
// are some 2 100 cases, so the file takes more than 20 seconds.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startServer } from '../support/server.ts'
import { playWith, readExpectedFailures } from './play.ts'

const rejected: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('refused-when-checked.json', import.meta.url), 'utf8'),
)

/** A case that lists all members of a response. `static_type` is a further member if the query is checked. */
const completeResponse = 'v10-diagnostics/an error answer has all its parts'

/** Why a correct checker rejects programs that run: each error of the list has one of these reasons. */
const rules: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^Unbound variable/, 'names are resolved before the evaluation, in the schema before the query'],
  [/^Type `Null` does not have field/, 'the value may be null, and only `!` and `?.` handle null'],
  [/^Type `(?!Null`).*` does not have field/, 'a record or a type does not declare the field'],
  [/contains extra field/, 'objects in arguments have no further fields'],
  [
    /^Type `Number` is not a subtype of/,
    'arithmetic has the type Number, which is neither an Int, an ID nor a String',
  ],
  [/^Type `Null` is not a subtype of/, 'null is passed where the signature excludes null'],
  [/^Type `(?!Number`|Null`).*` is not a subtype of/, 'the type of the value differs from the signature'],
  [/cannot be used as a function/, 'the called value is no function'],
  [
    /^Function was (called with too many|not called with enough) arguments/,
    'the signature has another arity',
  ],
  [/is not the value `/, 'a literal type accepts only its value'],
  [/^Cannot use `\[\]` operator/, 'the type has no access by index'],
  [/^Index -\d+ out of bounds/, 'a literal index is negative'],
  [/^Recursively defined `/, 'a recursive function or field declares no types'],
  [
    /^Computed fields used in indexes or constraints cannot/,
    'an indexed computed field depends on other data',
  ],
]

test('checks change no results, and reject exactly the listed cases', async () => {
  const server = await startServer()
  const results = await playWith(server, '', ['v10'], 'true').finally(() => server.stop())
  const failed = results.filter(({ passed }) => !passed)
  const others = failed.filter(({ id, refusal }) => refusal === undefined && id !== completeResponse)
  const expected = readExpectedFailures()
  const unexpected = others.filter(({ id }) => !expected.includes(id))
  assert.deepEqual(unexpected, [])
  const found = failed.flatMap(({ id, refusal }) =>
    refusal === undefined || expected.includes(id) ? [] : [[id, refusal[0] ?? ''] as const],
  )
  assert.deepEqual(Object.fromEntries(found.toSorted()), rejected)
})

test('each error of the list has one reason', () => {
  for (const [id, error] of Object.entries(rejected)) {
    const reasons = rules.filter(([pattern]) => pattern.test(error)).map(([, reason]) => reason)
    assert.equal(reasons.length, 1, `${id}: ${error}: ${reasons.join(', ')}`)
  }
})
