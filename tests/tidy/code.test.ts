// Checks the house rules that need syntax trees (rules.ts): the sources follow them, and each rule detects a source
// that breaks it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dashboardSources } from '../../scripts/sources.js'
import { layers } from './layers.ts'
import {
  beyondBrowsers,
  blindCasts,
  type Findings,
  importCycles,
  loadedFiles,
  misplacedTests,
  nestedGenerators,
  repeatingComments,
  strayLimits,
  unknownSymbols,
  unusedExports,
  unusedLayers,
} from './rules.ts'
import { files, read, sources } from './sources.ts'
import { readSyntax, type Syntax } from './syntax.ts'

/** Sources that break every rule once, and follow it in another place. */
const broken: Readonly<Record<string, string>> = {
  'src/values/planted.ts': [
    '// Planted.',
    "import { used } from '../storage/keys/planted.ts'",
    '/** Said. */',
    'export const lonely = used as unknown as string',
    '// The reason.',
    'export const reasoned = used as unknown as string',
    'export const shared = 1',
    'export interface PlantedOptions {}',
    'class Runner { #run() {} }',
    'function* lines() {}',
    'const scans = { *scan() {} }',
    'const each = () => function* () {}',
    'class Lines { *lines() {} }',
  ].join('\n'),
  'src/storage/keys/planted.ts': [
    '// Planted.',
    "import type { PlantedOptions } from '../../values/planted.ts'",
    "import { reasoned, shared } from '../../values/planted.ts'",
    'export const used = [reasoned, shared]',
    'const wordsMax = 5',
    '/** Said. */',
    'const linesMax = 6',
  ].join('\n'),
  'src/text/planted.ts':
    "// Planted.\nimport type { Round } from './planted-type.ts'\nexport type Trip = Round\n",
  'src/text/planted-type.ts':
    "// Planted.\nimport type { Trip } from './planted.ts'\nexport type Round = Trip\n",
  'src/values/planted-comments.ts': [
    '// Planted.',
    '/** The options of a client. */',
    'interface ClientOptions {',
    '  /** The name of the client. */',
    '  readonly name: string',
    '  /** In milliseconds. */',
    '  readonly timeout: number',
    '}',
    '/**',
    ' * Returns whether the files of a folder are cached.',
    ' */',
    'const hasCachedFiles = (folder: Folder) => folder.cache.size > 0',
    '/** Creates an iterator for planted lines. */',
    'class Lines implements Iterator<Line> {',
    '  /** Closes the file. */',
    '  close(): void { this.file.end() }',
    '  /** An {@link Iterator}. */',
    '  #count: number',
    '}',
    '/** Cuts `[start..end)`. */',
    'function cut(start: number, end: number /* of the text */) {}',
    '/** Cuts blocks. */',
    'const parts = {',
    '  /** All parts. */ parts: 1, cut(blocks: number) {},',
    '}',
  ].join('\n'),
  'src/text/planted-read.ts':
    "// Planted.\nimport { readFileSync } from 'node:fs'\nreadFileSync(Buffer.from('a'))\n",
  'dashboard/planted/planted.ts': "// Planted.\nimport '../../src/text/planted-read.ts'\n",
  'src/server/http/planted.ts': '// Planted.\n/** Said. */\nconst pageRowsMax = 5\n',
  'tests/unit/storage/keys/planted.test.ts':
    "// Planted.\nimport { shared } from '../../../../src/values/planted.ts'\n",
  'tests/unit/values/planted.test.ts':
    "// Planted.\nimport { shared } from '../../../src/values/planted.ts'\n",
}

const texts = new Map([...sources.map(({ path, text }) => [path, text] as const), ...Object.entries(broken)])
const all = readSyntax(texts)
const own = all.filter(({ path }) => !(path in broken))
const planted = all.filter(({ path }) => path in broken)

/**
 * Tests a rule: it finds nothing in the repository's sources, and exactly the expected violations in the planted
 * sources.
 */
function rule(name: string, check: (files: readonly Syntax[]) => Findings, found: Findings): void {
  test(name, () => {
    assert.deepEqual(check(own), [])
    assert.deepEqual(check(planted), found)
  })
}

rule('every export is imported by another file', unusedExports, [
  'src/values/planted.ts:4: nobody imports lonely',
])

rule('doc comments say more than the declaration', repeatingComments, [
  'src/values/planted-comments.ts:3: the comment repeats the declaration: The options of a client.',
  'src/values/planted-comments.ts:5: the comment repeats the declaration: The name of the client.',
  'src/values/planted-comments.ts:12: the comment repeats the declaration: Returns whether the files of a folder are cached.',
  'src/values/planted-comments.ts:14: the comment repeats the declaration: Creates an iterator for planted lines.',
  'src/values/planted-comments.ts:24: the comment repeats the declaration: All parts.',
])

rule('a cast that the type check cannot verify has a reason', blindCasts, [
  'src/values/planted.ts:4: a cast without a reason',
])

rule('generator functions are declarations of a module or methods of a class', nestedGenerators, [
  'src/values/planted.ts:11: a generator function within a function or an object',
  'src/values/planted.ts:12: a generator function within a function or an object',
])

rule('limits that clients can meet are in a table of limits, and other limits have a comment', strayLimits, [
  'src/storage/keys/planted.ts:5: wordsMax has no sentence',
  'src/server/http/planted.ts:3: pageRowsMax belongs into a table of limits',
])

rule('there are no circular imports', importCycles, [
  'src/values/planted.ts → src/storage/keys/planted.ts → src/values/planted.ts',
  'src/text/planted.ts → src/text/planted-type.ts → src/text/planted.ts',
])

for (const folder of [
  'src/values/',
  'src/fql4/text/',
  'src/fql4/wire/',
  'src/fql10/text/',
  'dashboard/',
  'client/',
]) {
  test(`${folder} runs in browsers: nothing that it loads of the service needs Node`, () => {
    assert.deepEqual(beyondBrowsers(own, folder, texts), [])
  })
}

test('a change of any source that the dashboard loads leads to a new build of the dashboard', () => {
  const isHashed = (path: string) => dashboardSources.some(each => `${path}/`.startsWith(`${each}/`))
  assert.deepEqual(
    [...loadedFiles(own, 'dashboard/').keys()].filter(path => !isHashed(path)),
    [],
  )
})

test('modules that need Node are found in the imports of browser modules', () => {
  assert.deepEqual(beyondBrowsers(all, 'dashboard/planted/', texts), [
    'src/text/planted-read.ts uses Buffer',
    'src/text/planted-read.ts imports node:fs',
  ])
})

rule('unit tests are in the folder that mirrors the tested one', misplacedTests, [
  'tests/unit/storage/keys/planted.test.ts tests nothing of src/storage/keys',
])

test('a layer imports every folder that it may import', () => {
  assert.deepEqual(unusedLayers(own, layers), [])
  assert.deepEqual(
    unusedLayers(planted, { 'storage/keys': ['values'], values: ['storage/keys', 'storage/kv'] }),
    ['values may import storage/kv, and does not'],
  )
})

test('each `path#symbol` in a page is a declaration of that file', () => {
  const byPath = new Map(all.map(each => [each.path, each]))
  const wrong = files('{*,docs/**/*}.md').flatMap(page => unknownSymbols(page, read(page), byPath))
  assert.deepEqual(wrong, [])
  const page =
    'See `src/values/planted.ts#run`, `src/values/planted.ts#Runner` and `src/values/planted.ts#Planted`.'
  assert.deepEqual(unknownSymbols('page.md', page, byPath), [
    'page.md: `src/values/planted.ts#Planted` names nothing that src/values/planted.ts declares',
  ])
})
