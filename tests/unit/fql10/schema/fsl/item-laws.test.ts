// Laws of schema files: any item, and any change of any part. The definition of an item has the same meaning as the
// item's text, and an updated file has the same meaning as the definition.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionOf } from '../../../../../src/fql10/schema/fsl/definition-of-item.ts'
import { diffOfItem } from '../../../../../src/fql10/schema/fsl/diff/item-diff.ts'
import { parseFsl } from '../../../../../src/fql10/schema/fsl/parse-file.ts'
import { patchFiles } from '../../../../../src/fql10/schema/fsl/patch.ts'
import type { SchemaItem } from '../../../../../src/fql10/schema/fsl/schema-items.ts'
import { textOfDefinition } from '../../../../../src/fql10/schema/fsl/text-of-definition.ts'
import { Source } from '../../../../../src/fql10/syntax/source.ts'
import type { ObjectValue, Value } from '../../../../../src/values/value.ts'
import { fc } from '../../../../support/fast-check.ts'
import { schemaTexts } from '../../../../support/schema-texts.ts'

function itemOf(text: string): SchemaItem {
  const { faults, items } = parseFsl(new Source('main.fsl', text))
  const found = faults.map(({ message, span }) => `${message} at ${span?.start}`)
  assert.deepEqual(found, [], text)
  const [item, ...others] = items
  assert.ok(item !== undefined && others.length === 0, text)
  return item
}

function textOf(item: SchemaItem): string {
  const text = textOfDefinition({ kind: item.kind, fields: definitionOf(item) })
  assert.ok(text !== undefined)
  return text
}

/**
 * A definition as plain JSON, without the wildcard of a collection without fields. The order of the parts is not
 * significant.
 */
function plain(value: Value | ObjectValue): unknown {
  if (value instanceof Map) {
    const given = [...(value as ObjectValue)].filter(([name]) => name !== 'wildcard' || value.has('fields'))
    const entries = given.map(([name, each]) => [name, plain(each)] as const)
    const roles = value.get('roles')
    if (Array.isArray(roles)) entries.push(['roles', roles.map(each => JSON.stringify(plain(each))).sort()])
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
  }
  if (!Array.isArray(value)) return typeof value === 'bigint' ? `${value}n` : value
  const isOrdered = value.every(
    each => typeof each === 'string' || (each instanceof Map && each.has('field')),
  )
  const all = value.map(plain)
  return isOrdered ? all : all.map(each => JSON.stringify(each)).sort()
}

for (const [kind, text] of Object.entries(schemaTexts)) {
  test(`${kind}: the printed definition has the same definition`, () => {
    fc.assert(
      fc.property(text, given => {
        const item = itemOf(given)
        assert.deepEqual(plain(definitionOf(itemOf(textOf(item)))), plain(definitionOf(item)), given)
      }),
      { numRuns: 150 },
    )
  })

  test(`${kind}: a file with the same meaning does not change`, () => {
    fc.assert(
      fc.property(text, given => {
        const file = { name: 'main.fsl', text: given }
        assert.deepEqual(patchFiles([file], [textOf(itemOf(given))]), [file])
      }),
      { numRuns: 150 },
    )
  })

  test(`${kind}: versions without a difference have the same definition`, () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [before, after] = [itemOf(one), itemOf(other)]
        if (diffOfItem({ before, after }, undefined).isDifferent) return
        assert.deepEqual(plain(definitionOf(after)), plain(definitionOf(before)))
      }),
      { numRuns: 300 },
    )
  })

  test(`${kind}: an updated file has the new definition`, () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const item = itemOf(after)
        const [file] = patchFiles([{ name: 'main.fsl', text: before }], [textOf(item)])
        const patched = file?.text ?? ''
        assert.deepEqual(plain(definitionOf(itemOf(patched))), plain(definitionOf(item)), patched)
      }),
      { numRuns: 300 },
    )
  })
}
