// Properties of relations: the metadata of an import gives the same relations as the imported schema, in any order of
// the types. Otherwise operations would use other indexes and collections than the import has created.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SchemaError } from '../../../src/graphql/errors.ts'
import { completedObject } from '../../../src/graphql/import/completed-definition.ts'
import type {
  DirectiveUse,
  ObjectDefinition,
  SchemaDefinition,
} from '../../../src/graphql/schema/definitions.ts'
import { objectIn, objectMeta } from '../../../src/graphql/schema/metadata.ts'
import { type Relations, relationsOf } from '../../../src/graphql/schema/relations.ts'
import { fc } from '../../support/fast-check.ts'

const types = ['Apple', 'Berry', 'Cherry'] as const

const field = fc.record({
  type: fc.constantFrom(...types),
  isList: fc.boolean(),
  isMarked: fc.boolean(),
  relation: fc.constantFrom(undefined, undefined, undefined, 'r', 's'),
})

const schemas = fc.tuple(...types.map(() => fc.array(field, { maxLength: 3 }))).map(all =>
  all.map(
    (fields, at): ObjectDefinition => ({
      name: types[at] as string,
      directives: [],
      fields: fields.map(({ isList, isMarked, relation, type }, place) => {
        const named = { kind: 'named', name: type } as const
        const directive: DirectiveUse = {
          name: 'relation',
          args: relation === undefined ? {} : { name: relation },
        }
        return {
          name: `f${place}`,
          type: isList ? { kind: 'list', of: named } : named,
          arguments: [],
          directives: isMarked || relation !== undefined ? [directive] : [],
        }
      }),
    }),
  ),
)

const schemaOf = (objects: readonly ObjectDefinition[]): SchemaDefinition => ({
  objects,
  inputs: [],
  enums: [],
  queries: [],
  mutations: [],
})

function relationsIn(objects: readonly ObjectDefinition[]): Relations | undefined {
  try {
    return relationsOf(schemaOf(objects))
  } catch (error) {
    if (error instanceof SchemaError) return undefined
    throw error
  }
}

/** How each field stores its relation, in an order that does not depend on the order of the types. */
function summary({ indexes, linkCollections, of }: Relations): unknown {
  const kinds = Array.from(of, ([key, relation]) => {
    const where = 'links' in relation ? relation.links.byOwn : 'back' in relation ? relation.back?.index : ''
    return `${key}: ${relation.kind} ${where ?? ''}`
  })
  return {
    kinds: kinds.sort(),
    indexes: indexes.map(({ name }) => name).sort(),
    links: linkCollections.toSorted(),
  }
}

test('the metadata of a schema has the relations of the schema', () => {
  fc.assert(
    fc.property(schemas, fc.boolean(), (objects, isReversed) => {
      const relations = relationsIn(objects)
      if (relations === undefined) return
      const stored = objects.map(object => objectIn(objectMeta(completedObject(object, relations))))
      const read = isReversed ? stored.toReversed() : stored
      assert.deepEqual(
        summary(relationsIn(read as readonly ObjectDefinition[]) as Relations),
        summary(relations),
      )
    }),
    { numRuns: 3000 },
  )
})
