// Checks that comments and pages follow the rules for sentences (CONTRIBUTING.md) in each folder. Examples that break
// each rule test the measure itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bounds, insteadOf, keepsTo, measure, measureFolders, readPending } from './prose.ts'
import { sentencesOf } from './sentences.ts'

const advice = 'see: npx node tests/tidy/prose.ts FOLDER'
const measures = measureFolders()
const pending = readPending()

test(`sentences have a subject and at most 35 words (${advice})`, () => {
  const wrong = [...measures].filter(([folder, each]) => !keepsTo(each, pending[folder] ?? bounds))
  assert.deepEqual(
    wrong.map(([folder]) => folder),
    [],
  )
})

test('only folders that break the rules are pending (else: npx node tests/tidy/prose.ts --update)', () => {
  const done = Object.keys(pending).filter(folder => {
    const each = measures.get(folder)
    return !each || keepsTo(each, bounds)
  })
  assert.deepEqual(done, [])
})

const texts = (path: string, text: string) => sentencesOf(path, text).map(each => each.text)

test('the sentences of a page', () => {
  const page = [
    '# Restore a backup',
    'Stop the [service](a.md) first. Run `terrarium restore --from x` then,',
    'with **care**.',
    '- A list item is one.',
    '  It may go on.',
    '',
    '    code is not prose here',
    '',
    '| name | the meaning of it |',
    '|---|---|',
    '```',
    'code is not prose here',
    '```',
  ]
  assert.deepEqual(texts('page.md', page.join('\n')), [
    'Restore a backup',
    'Stop the service first.',
    'Run `terrarium·restore·--from·x` then, with care.',
    'A list item is one.',
    'It may go on.',
    'the meaning of it',
  ])
})

test('released parts of the changelog are not measured', () => {
  const changelog =
    '# Changelog\n## 0.2.0 (not released yet)\nThe service starts faster.\n## 0.1.0\nWhat was there is gone.\n'
  assert.deepEqual(texts('CHANGELOG.md', changelog).slice(1), ['The service starts faster.'])
})

test('the sentences of comments', () => {
  const source = [
    '// Opens a file. Directories',
    '// are rejected.',
    'const a = 1 // milliseconds between two checks',
    '/**',
    ' * Reads a value.',
    ' * @param key The key to read.',
    ' * @returns undefined if the key is absent',
    ' */',
    "const url = 'http://no.comment.here'",
    '// biome-ignore lint/a/b: directives are for tools',
    '/** Closes the file at once. */',
  ]
  assert.deepEqual(texts('a.ts', source.join('\n')), [
    'Opens a file.',
    'Directories are rejected.',
    'milliseconds between two checks',
    'Reads a value.',
    'The key to read.',
    'undefined if the key is absent',
    'Closes the file at once.',
  ])
  assert.deepEqual(texts('deploy/haproxy.cfg', '#!/bin/sh\n# Checks each node.\nserver a\n'), [
    'Checks each node.',
  ])
})

test('each rule finds the sentence that breaks it', () => {
  const long = `The service ${'very '.repeat(35)}slowly starts.`
  const path = 'page.md'
  const sentences = [
    ...sentencesOf(path, 'What is told is kept. One-shot queries are fine. "Who" is a pronoun here.'),
    ...sentencesOf(path, `${long} The copy is made anew.`),
  ]
  const found = measure(sentences, [
    { path, line: 1, text: 'KeptLease' },
    { path, line: 2, text: 'Lease' },
  ])
  assert.deepEqual(
    found.headless.map(({ text }) => text),
    ['What is told is kept.', '"Who" is a pronoun here.'],
  )
  assert.deepEqual(
    found.long.map(({ text }) => text),
    [long],
  )
  assert.deepEqual(
    found.dialect.map(({ text }) => text),
    ['The copy is made anew.', 'KeptLease'],
  )
  assert.equal(insteadOf('The process looks again.'), 're-reads, checks again')
  assert.equal(keepsTo(found, { headless: 40, long: 20, dialect: 2 }), true)
  for (const bound of ['headless', 'long', 'dialect'])
    assert.equal(
      keepsTo(measure([...sentences, ...sentences]), { headless: 40, long: 20, dialect: 2, [bound]: 0 }),
      false,
    )
})
