// Imports go only downwards, so that every layer can be read, tested and replaced without those above it.

import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { test } from 'node:test'
import { layerOf, layers, open } from './layers.ts'
import { sources } from './sources.ts'

const importPattern = /\bfrom\s+'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g

/** The imports of each file of `src`: paths from the root for relative imports, the name for packages. */
const imports = new Map(
  sources
    .filter(({ path }) => path.startsWith('src/'))
    .map(({ path, code }) => {
      const statements = code
        .map(({ text }) => text)
        .join('\n')
        .matchAll(importPattern)
      const targets = [...statements].map(([, from, plain]) => from ?? plain ?? '')
      return [
        path,
        targets.map(target => (target.startsWith('.') ? posix.join(posix.dirname(path), target) : target)),
      ]
    }),
)

test('every folder of src is a layer', () => {
  const unknown = [...imports.keys()].filter(path => !(layerOf(path) in layers))
  assert.deepEqual(unknown, [])
})

test('imports go only downwards', () => {
  const wrong: string[] = []
  for (const [path, targets] of imports) {
    const from = layerOf(path)
    const allowed = [from, ...open, ...(layers[from] ?? [])]
    for (const target of targets) {
      if (target.startsWith('src/') && !allowed.includes(layerOf(target)))
        wrong.push(`${path} imports ${target}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('the table of layers lists each layer once, after the layers that it may import', () => {
  const names = Object.keys(layers)
  assert.ok(names.length > 30)
  const wrong = names.filter((name, place) =>
    (layers[name] ?? []).some(other => !names.slice(0, place).includes(other)),
  )
  assert.deepEqual(wrong, [])
})

/** Matches a comparison with a version of the language, or an access to a language by its name. */
const languageTest =
  /[!=]==? '(?:4|10)'|'(?:4|10)' [!=]==?|case '(?:4|10)'|languages\??\.?\['|inVersion\d|isVersion\d/

test('the model does not depend on the language that uses it: languages pass policies', () => {
  const asks = (text: string) => languageTest.test(text)
  assert.ok(asks("if (rules.language === '10')") && asks("host.languages['10']") && !asks("dialect: '4',"))
  const found = sources
    .filter(({ path }) => path.startsWith('src/model/'))
    .flatMap(({ code, path }) => code.filter(({ text }) => asks(text)).map(({ text }) => `${path}: ${text}`))
  assert.deepEqual(found, [])
})

/** The programs, and the functions that exit the process: see `src/cli/fatal.ts`. */
const programs = ['src/cli/', 'src/app/slow-lane-main.ts', 'src/app/backup-main.ts']

test('libraries do not exit the process: programs pass them a function that does', () => {
  const found = sources
    .filter(({ path }) => path.startsWith('src/') && !programs.some(program => path.startsWith(program)))
    .flatMap(({ code, path }) => code.map(({ text }) => `${path}: ${text}`))
    .filter(line => /process\.(?:exit|abort|reallyExit)\(|process\.kill\(process\.pid/.test(line))
  assert.deepEqual(found, [])
})
