// The common forms of the language, built with the driver's functions.

import assert from 'node:assert/strict'
import faunadb from 'faunadb'
import { assertFails, driverTests, errors, q, values } from './app.ts'

const driverTest = driverTests()

driverTest('literals are returned unchanged', async app => {
  const client = await app.as('client')
  const literals = [1, 1.5, 'text', true, null, [1, [2]], { a: { b: null } }, {}, []]
  assert.deepEqual(await client.query(literals), literals)
  assert.deepEqual(await client.query({ '@tagged': 1 }), { '@tagged': 1 })
  const time = new values.FaunaTime('1970-01-01T00:00:00.000000001Z')
  assert.deepEqual(await client.query(time), time)
})

driverTest('let binds in order, and inner names hide outer ones', async app => {
  const client = await app.as('client')
  assert.equal(
    await client.query(q.Let({ a: 1, b: q.Add(q.Var('a'), 1) }, q.Multiply(q.Var('a'), q.Var('b'), 5))),
    10,
  )
  assert.equal(await client.query(q.Let({ a: 1 }, q.Let({ a: 2 }, q.Var('a')))), 2)
  await assertFails(client.query(q.Let({ a: 1 }, [q.Var('b')])), errors.BadRequest, {
    code: 'invalid expression',
    position: ['in', 0],
  })
})

driverTest('if evaluates one branch only', async app => {
  const client = await app.as('client')
  assert.equal(await client.query(q.If(true, 'yes', q.Abort('not here'))), 'yes')
  assert.equal(await client.query(q.If(q.Equals(1, 2), q.Abort('not here'), 'no')), 'no')
  await assertFails(client.query(q.If('text', 1, 2)), errors.BadRequest, {
    code: 'invalid argument',
    position: ['if'],
  })
})

driverTest('do returns its last expression', async app => {
  const client = await app.as('client')
  assert.equal(await client.query(q.Do(1, 2, 'last')), 'last')
})

driverTest('equals compares values deeply, and all its arguments', async app => {
  const client = await app.as('client')
  const cases: [Parameters<typeof q.Equals>, boolean][] = [
    [[1, 1, 1], true],
    [[1, 1, 2], false],
    [[{ a: [1, 'x'] }, { a: [1, 'x'] }], true],
    [[{ a: [1, 'x'] }, { a: ['x', 1] }], false],
    [['1', 1], false],
  ]
  for (const [words, expected] of cases) {
    assert.equal(await client.query(q.Equals(...words)), expected, JSON.stringify(words))
  }
})

driverTest('map applies a lambda to every element; lambdas may have patterns', async app => {
  const client = await app.as('client')
  assert.deepEqual(await client.query(q.Map([1, 2, 3], q.Lambda('n', q.Multiply(q.Var('n'), 2)))), [2, 4, 6])
  assert.deepEqual(
    await client.query(
      q.Map(
        [
          [1, 'a'],
          [2, 'b'],
        ],
        q.Lambda(['_', 'name'], q.Var('name')),
      ),
    ),
    ['a', 'b'],
  )
  const outside = 10
  assert.deepEqual(
    await client.query(
      q.Map(
        [1, 2],
        q.Lambda(n => q.Add(n, outside)),
      ),
    ),
    [11, 12],
  )
  await assertFails(client.query(q.Map([1, 'two'], q.Lambda('n', q.Add(q.Var('n'), 1)))), errors.BadRequest, {
    code: 'invalid argument',
    position: ['map', 'expr', 'add', 0],
  })
})

driverTest('select reads objects and arrays by path, with and without a default', async app => {
  const client = await app.as('client')
  const value = { a: { list: [10, { b: 'found' }] } }
  assert.equal(await client.query(q.Select(['a', 'list', 1, 'b'], value)), 'found')
  assert.equal(await client.query(q.Select(['a', 'list', 5], value, 'default')), 'default')
  assert.equal(await client.query(q.Select('a', { a: 7 })), 7)
  await assertFails(client.query(q.Select(['a', 'missing'], value)), errors.NotFound, {
    code: 'value not found',
    position: ['from'],
  })
})

driverTest('integers have 64 bits', async app => {
  const client = await app.as('client')
  assert.equal(await client.query(q.Divide(7, 2)), 3)
  assert.equal(await client.query(q.Divide(7.0001, 2)), 3.50005)
  await assertFails(client.query(q.Divide(1, 0)), errors.BadRequest, {
    code: 'invalid argument',
    position: [],
  })
})

driverTest('an unknown function is an invalid expression', async app => {
  const client = await app.as('client')
  const unknown = new faunadb.Expr({ no_such_function: 1 })
  await assertFails(client.query({ field: unknown }), errors.BadRequest, {
    code: 'invalid expression',
    position: ['object', 'field'],
  })
})
