// The type check and the linter as tests, so that one run and one summary tell everything.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../support/program.ts'

async function assertSucceeds(tool: string, words: readonly string[]): Promise<void> {
  const path = join(repository, 'node_modules/.bin', tool)
  const output = await new Promise<string>(resolve => {
    execFile(path, words, { cwd: repository }, (error, stdout, stderr) => {
      resolve(error ? `${error.message}\n${stdout}${stderr}` : '')
    })
  })
  if (output) assert.fail(output.slice(0, 5000))
}

test('the type check passes', () => assertSucceeds('tsc', ['--noEmit', '--pretty', 'false']))
test('the type check of the dashboard passes', () =>
  assertSucceeds('tsc', ['--noEmit', '--pretty', 'false', '-p', 'dashboard']))
test('the type check of the client passes', () =>
  assertSucceeds('tsc', ['--noEmit', '--pretty', 'false', '-p', 'client']))
test('formatting and lint pass (npm run format mends most)', () =>
  assertSucceeds('biome', ['check', '--error-on-warnings', '--max-diagnostics=10', '--colors=off', '.']))
