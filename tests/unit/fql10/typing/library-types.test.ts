// Compares the static types of the library with those of the hosted service (library-types.tsv: kind, owner, name and
// type).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Scheme, Shape } from '../../../../src/fql10/typing/environment.ts'
import { libraryNames, libraryShapes } from '../../../../src/fql10/typing/library.ts'
import { operatorTexts } from '../../../../src/fql10/typing/operator-types.ts'
import { schemeText } from '../../../../src/fql10/typing/print.ts'

interface Row {
  readonly kind: string
  readonly owner: string
  readonly name: string
  readonly type: string
}

const rows: readonly Row[] = readFileSync(new URL('library-types.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map(line => {
    const [kind = '', owner = '', name = '', type = ''] = line.split('\t')
    return { kind, owner, name, type }
  })

/** Rows about collections and functions of an application, which the library does not contain. */
const isOfApplication = ({ kind, owner, name }: Row) =>
  kind === 'record' ||
  ['C', 'NullC', 'CCollection'].includes(owner) ||
  name.startsWith('C (') ||
  name.startsWith('f (')

/** Operators whose rules are code. */
const ownOperators = ['&&', '||', '??', 'isa', '-', '~', '!']

const shape = (name: string): Shape | undefined => libraryShapes.get(name)
const text = (scheme: Scheme | undefined) => scheme && schemeText(scheme)

function found({ kind, owner, name }: Row): string | undefined {
  switch (kind) {
    case 'global':
      return text(libraryNames.get(name))
    case 'type':
      return shape(name) && (shape(name)?.self ?? name)
    case 'type_hint':
      return shape(owner)?.hint
    case 'field':
      return text(shape(owner)?.fields.get(name))
    case 'op':
      return text(shape(owner)?.operators?.get(name))
    case 'apply':
    case 'access':
    case 'alias':
      return text(shape(owner)?.[kind])
    case 'operator':
      return operatorTexts[name]
    default:
      return undefined
  }
}

test('the static types of the library are those of the hosted service', () => {
  const compared = rows.filter(
    row => !isOfApplication(row) && !(row.kind === 'operator' && ownOperators.includes(row.name)),
  )
  assert.ok(compared.length > 600)
  const different = compared
    .filter(row => found(row) !== row.type)
    .map(row => ({ ...row, found: found(row) }))
  assert.deepEqual(different, [])
})

test('the library has no other static types', () => {
  const types = new Set(rows.filter(({ kind }) => kind === 'type').map(({ name }) => name))
  const untyped = [...libraryShapes.keys()].filter(name => !types.has(name))
  assert.deepEqual(untyped, [])
  const fields = [...libraryShapes].flatMap(([owner, { fields: own }]) =>
    [...own.keys()].map(name => `${owner}.${name}`),
  )
  const known = new Set(
    rows.filter(({ kind }) => kind === 'field').map(({ name, owner }) => `${owner}.${name}`),
  )
  const unknown = fields.filter(name => !known.has(name))
  assert.deepEqual(unknown, [])
})
