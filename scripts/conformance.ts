// Runs the conformance cases against a server of its own, and compares the results with the list of expected failures.
// `--update` removes passing cases from the list; only `--allow-growth` adds cases.
//
//     npm run conformance -- [--only TEXT] [--update [--allow-growth]]

import { writeFileSync } from 'node:fs'
import {
  caseIds,
  compare,
  expectedFailuresFile,
  play,
  readExpectedFailures,
  table,
} from '../tests/conformance/play.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { readOptions } from './command-line.ts'

const { values: options } = readOptions({
  usage: `npm run conformance -- [options]

Runs the conformance cases against a service of its own.

  --only TEXT      only cases whose id contains the text, such as v10-sets or "abac/a role"
  --update         removes passing cases from the list of expected failures
  --allow-growth   with --update, adds failing cases to the list
  --help           prints this text`,
  options: {
    only: { type: 'string', default: '' },
    update: { type: 'boolean', default: false },
    'allow-growth': { type: 'boolean', default: false },
  },
})

const server = await startProcess()
const results = await play(server, options.only).finally(() => server.stop())
const expected = readExpectedFailures()
const difference = compare(results, expected)
const cases = caseIds()
const unknown = expected.filter(id => !cases.has(id))
for (const result of difference.newFailures) {
  console.log(`FAIL ${result.id} (step ${result.step})\n      ${result.complaint}`)
}
for (const id of difference.nowPassing) console.log(`passes, but is on the list of expected failures: ${id}`)
for (const id of unknown) console.log(`on the list of expected failures, but not a case: ${id}`)
console.log(table(results))

if (options.update) {
  const gone = new Set([...difference.nowPassing, ...unknown])
  const kept = expected.filter(id => !gone.has(id))
  const added = options['allow-growth'] ? difference.newFailures.map(result => result.id) : []
  writeFileSync(expectedFailuresFile, `${JSON.stringify([...kept, ...added].sort(), null, 1)}\n`)
  console.log(`the list had ${expected.length} cases and has ${kept.length + added.length} now`)
  process.exitCode = difference.newFailures.length > added.length ? 1 : 0
} else {
  process.exitCode = difference.newFailures.length + difference.nowPassing.length + unknown.length > 0 ? 1 : 0
}
