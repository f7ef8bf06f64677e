// Writers on two nodes change a collection while its schema is pushed. Every push succeeds, because a schema change that
// conflicts again and again is evaluated under the lock of the record.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOfNewDatabase, sendFql } from '../support/http.ts'
import { requestSchema } from '../support/schema-files.ts'
import { describeNodes, type Node } from './cluster.ts'

const writers = 16
/** Every operation of this number writes to the collection that the pushes change. */
const touchEvery = 14
const pushes = 6

/** Returns a schema file whose collection has this number of additional fields. */
function schemaOf(fields: number): string {
  const names = Array.from({ length: fields }, (_, at) => `f${at}`)
  const declared = names.map(name => `${name}: Int?`).join('\n')
  const migrations = fields === 0 ? '' : `migrations { ${names.map(name => `add .${name}`).join('\n')} }`
  return `collection Jar { n: Int\n${declared}\nindex byN { terms [.n] }\n${migrations} }\ncollection Other { k: Int? }`
}

describeNodes('schema pushes beside writers', nodes => {
  test('every push and every commit of a staged schema succeeds', async () => {
    const { a, b } = nodes
    const secret = await keyOfNewDatabase(a, 'pushed', 'admin')
    const push = (node: Node, fields: number, staged: boolean) =>
      requestSchema(node, secret, `update?force=true&staged=${staged}`, { 'main.fsl': schemaOf(fields) })
    assert.equal((await push(a, 0, false)).status, 200)
    let isOver = false
    const writing = Array.from({ length: writers }, async (_, writer) => {
      for (let at = 0; !isOver; at++) {
        const query = at % touchEvery === 0 ? `Jar.create({ n: ${at} })` : `Other.create({ k: ${at} })`
        await sendFql(writer % 2 === 0 ? a : b, secret, query)
      }
    })
    const answers: string[] = []
    for (let round = 1; round <= pushes; round++) {
      const staged = round % 3 === 0
      const pushed = await push(round % 2 === 0 ? a : b, round, staged)
      answers.push(`push ${round}: ${pushed.status}`)
      if (!staged) continue
      const committed = await requestSchema(a, secret, 'staged/commit?force=true', {})
      answers.push(`commit ${round}: ${committed.status}`)
    }
    isOver = true
    await Promise.all(writing)
    assert.deepEqual(
      answers.filter(answer => !answer.endsWith('200')),
      [],
    )
  })
})
