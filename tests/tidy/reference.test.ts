// Checks that the reference pages match the code: generated pages are current, and the page of endpoints lists every
// path.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generatedFiles } from '../../scripts/generate.ts'
import { requestErrors } from '../../src/base/request-errors.ts'
import { queryErrorStatus } from '../../src/fql4/query-errors.ts'
import { files, read } from './sources.ts'

for (const [path, make] of Object.entries(generatedFiles)) {
  test(`${path} is current (else: npm run generate)`, () => {
    const present = read(path)
    const [lines, wanted] = [present, make(present)].map(text => text.split('\n'))
    // Whole pages as a difference would hide the line that matters.
    const place = wanted?.findIndex((line, at) => line !== lines?.[at]) ?? -1
    assert.deepEqual([place, lines?.[place]], [place, wanted?.[place]], `line ${place + 1}`)
    assert.equal(lines?.length, wanted?.length)
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
