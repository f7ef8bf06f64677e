// Which function an object calls: decided by its set of keys, in whatever order and however odd they are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registry } from '../../../src/v4/functions/registry.ts'
import { openTestEngine } from '../../support/engine.ts'

test('the order of keys does not count, and no key stands for two', async () => {
  const both = registry.find(['paginate', 'size'], '4')
  assert.equal(both?.name, 'paginate')
  assert.equal(registry.find(['size', 'paginate'], '4'), both)
  for (const keys of [['paginate\nsize'], ['', 'paginate', 'size'], ['paginate', ''], [''], []]) {
    assert.equal(registry.find(keys, '4'), undefined)
  }
  const engine = openTestEngine()
  for (const query of [{ 'paginate\nsize': 1 }, { '': 1, abs: 1 }, {}]) {
    const { body, status } = await engine.send(query)
    assert.equal(status, 400)
    assert.match(body, /No form\/function found/)
  }
  await engine.close()
})
