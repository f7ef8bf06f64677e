// The cache of parsed schema files stays below its limit in bytes for any content.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readFile } from '../../../../../src/fql10/schema/fsl/patch.ts'

setFlagsFromString('--expose-gc')
const gc: () => void = runInNewContext('gc')

const heapMebibytes = () => {
  gc()
  return process.memoryUsage().heapUsed / 1_048_576
}

const texts = {
  fields: `collection A {\n${'a:A\n'.repeat(35_000)}}`,
  faults: 'x\n'.repeat(15_000),
}

for (const [name, text] of Object.entries(texts)) {
  test(`the cache for files of ${name} is bounded`, () => {
    readFile({ name: 'first.fsl', text })
    const before = heapMebibytes()
    for (let file = 0; file < 24; file++) readFile({ name: `${file}.fsl`, text })
    const grownBy = heapMebibytes() - before
    assert.ok(grownBy < 48, `${grownBy} MiB`)
  })
}
