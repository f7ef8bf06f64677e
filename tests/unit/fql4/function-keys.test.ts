// The function that an object calls is determined by its set of keys, in any order and with any odd keys.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registry } from '../../../src/fql4/functions/registry.ts'
import { openTestEngine } from '../../support/engine.ts'

test('the order of keys is irrelevant, and a key that joins two names is unknown', async () => {
  const both = registry.find(['paginate', 'size'], '4')
  assert.equal(both?.name, 'paginate')
  assert.equal(registry.find(['size', 'paginate'], '4'), both)
  for (const keys of [['paginate\nsize'], ['', 'paginate', 'size'], ['paginate', ''], [''], []]) {
    assert.equal(registry.find(keys, '4'), undefined)
  }
  await using engine = openTestEngine()
  for (const query of [{ 'paginate\nsize': 1 }, { '': 1, abs: 1 }, {}]) {
    const { body, status } = await engine.send(query)
    assert.equal(status, 400)
    assert.match(body, /No form\/function found/)
  }
})
