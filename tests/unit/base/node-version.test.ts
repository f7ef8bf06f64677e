// The oldest supported Node.js is named in three places that cannot import each other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeVersionFault } from '../../../src/base/program-files.ts'
import { read } from '../../tidy/sources.ts'

test('an old Node.js gives a one-line error, a supported one none', () => {
  for (const version of ['18.20.0', '20.20.2', '22.11.9'])
    assert.equal(nodeVersionFault(version), `terrarium-db needs Node.js 22.12 or later; this is ${version}`)
  for (const version of ['22.12.0', '22.13.1', '24.0.0', process.versions.node])
    assert.equal(nodeVersionFault(version), undefined)
})

test('package.json and the command name the same version', () => {
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  assert.equal(engines.node, '>=22.12')
  assert.match(read('bin/terrarium.js'), /const \[majorMin, minorMin\] = \[22, 12\]/)
})
