// Checks that the reference pages match the code: generated pages are current, and the page of endpoints lists every
// path.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cliReference } from '../../scripts/generate-cli.ts'
import { functionTableFile } from '../../scripts/generate-fql.ts'
import { fql10Files } from '../../scripts/generate-fql10.ts'
import { functionReference } from '../../scripts/generate-reference.ts'
import { tablePages } from '../../scripts/generate-tables.ts'
import { requestErrors } from '../../src/base/request-errors.ts'
import { queryErrorStatus } from '../../src/fql4/query-errors.ts'
import { files, read } from './sources.ts'

test('docs/reference/functions.md is current (else: node scripts/generate-reference.ts)', () => {
  assert.equal(read('docs/reference/functions.md'), functionReference())
})

test('src/fql4/text/function-table.ts is current (else: node scripts/generate-fql.ts)', () => {
  assert.equal(read('src/fql4/text/function-table.ts'), functionTableFile())
})

for (const [path, make] of Object.entries(fql10Files)) {
  test(`${path} is current (else: node scripts/generate-fql10.ts)`, () => {
    assert.equal(read(path), make())
  })
}

test('docs/reference/cli.md is current (else: node scripts/generate-cli.ts)', () => {
  assert.equal(read('docs/reference/cli.md'), cliReference())
})

for (const [path, make] of Object.entries(tablePages)) {
  test(`${path} is current (else: node scripts/generate-tables.ts)`, () => {
    assert.equal(read(path), make())
  })
}

test('every limit and every error has a meaning on its page', () => {
  const limitsText = read('docs/reference/limits.md')
  const limits = files('src/**/*.ts')
    .flatMap(path => [
      ...read(path).matchAll(/^(?:export )?const \w*[lL]imits = \{\n([\s\S]*?)\n\} as const/gm),
    ])
    .flatMap(([, members = '']) => [...members.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name))
  assert.ok(limits.length > 150)
  assert.deepEqual(
    limits.filter(name => !limitsText.includes(`\`${name}\``)),
    [],
  )
  const errorsText = read('docs/reference/errors.md')
  const codes = [...Object.keys(queryErrorStatus), ...Object.keys(requestErrors)]
  assert.deepEqual(
    codes.filter(code => !errorsText.includes(`| \`${code}\` |`)),
    [],
  )
})

test('docs/reference/http.md names the path of every endpoint', () => {
  const page = read('docs/reference/http.md')
  // Every text that begins with a slash is a path, however the endpoint is defined.
  const paths = [...files('src/server/http/endpoints/*.ts'), 'src/server/http/routes.ts']
    .flatMap(path => [...read(path).matchAll(/['`](\/[a-z][\w/:-]*)/g)])
    .map(([, path = '']) => path.replace(/\/?(:\w+)?$/, ''))
  for (const path of ['/api/v1/explain', '/api/v1/logs/_list', '/schema/1', '/tokens/self'])
    assert.ok(paths.includes(path), path)
  assert.deepEqual(
    paths.filter(path => !page.includes(`\`${path}`) && !page.includes(` ${path}`)),
    [],
  )
})

test('the changelog begins with the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  assert.equal(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1], version)
})
