// The types that can replace another type without a migration.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  anyType,
  type FieldType,
  type MemberType,
  nullType,
  type ObjectType,
  type ScalarName,
  typeText,
} from '../../../src/model/schema/field-types.ts'
import { isSubtype, typeDifference, unionOf } from '../../../src/model/schema/type-check.ts'

const scalar = (name: ScalarName): FieldType => ({ kind: 'scalar', name })
const [int, long, double, number, text] = (['Int', 'Long', 'Double', 'Number', 'String'] as const).map(
  scalar,
) as [FieldType, FieldType, FieldType, FieldType, FieldType]
const union = (...members: readonly FieldType[]): FieldType => ({ kind: 'union', members })
const array = (element: FieldType): FieldType => ({ kind: 'array', element })
const tuple = (...elements: readonly FieldType[]): FieldType => ({ kind: 'tuple', elements })
const literal = (value: string | bigint | boolean): FieldType => ({ kind: 'literal', value })
const reference = (collection: number): FieldType => ({
  kind: 'reference',
  collection,
  name: `C${collection}`,
})

function object(fields: Readonly<Record<string, FieldType>>, wildcard?: FieldType): ObjectType {
  const members = Object.entries(fields).map(([name, type]): [string, MemberType] => [name, { type }])
  return { kind: 'object', fields: new Map(members), wildcard }
}

const wider: readonly (readonly [FieldType, FieldType])[] = [
  [int, int],
  [int, union(int, text)],
  [int, union(int, nullType)],
  [union(int, text), union(text, nullType, int)],
  [int, number],
  [long, number],
  [double, number],
  [literal('a'), text],
  [literal(3n), int],
  [literal(true), scalar('Boolean')],
  [int, anyType],
  [anyType, anyType],
  [anyType, union(int, anyType)],
  [array(int), array(union(int, text))],
  [tuple(int, int), array(int)],
  [tuple(int, literal('x')), tuple(number, text)],
  [object({ a: int }), object({ a: int, b: union(text, nullType) })],
  [object({ a: int }), object({}, anyType)],
  [object({ a: int, b: text }), object({ a: number }, text)],
  [object({}, anyType), object({}, anyType)],
  [reference(1024), union(reference(1024), nullType)],
]

const others: readonly (readonly [FieldType, FieldType])[] = [
  [union(int, text), int],
  [union(int, nullType), int],
  [anyType, int],
  [anyType, union(int, text, nullType)],
  [number, int],
  [text, literal('a')],
  [array(text), array(int)],
  [array(int), tuple(int)],
  [tuple(int), tuple(int, int)],
  [object({}), object({ a: int })],
  [object({ a: int, b: int }), object({ a: int })],
  [object({}, anyType), object({})],
  [object({ a: int }), object({}, text)],
  [reference(1024), reference(1025)],
  [int, double],
]

test('a wider type accepts every value of a narrower type', () => {
  for (const [type, other] of wider)
    assert.equal(isSubtype(type, other), true, `${typeText(type)} in ${typeText(other)}`)
  for (const [type, other] of others)
    assert.equal(isSubtype(type, other), false, `${typeText(type)} in ${typeText(other)}`)
})

test('a union contains each member once, and a difference of types contains the members that only the first type has', () => {
  assert.equal(typeText(unionOf([int, union(text, int), nullType])), 'Int | String | Null')
  assert.equal(typeText(unionOf([int, int])), 'Int')
  assert.equal(typeText(typeDifference(union(int, text), union(scalar('Boolean'), int))), 'String')
  assert.equal(typeText(typeDifference(text, int)), 'String')
})
