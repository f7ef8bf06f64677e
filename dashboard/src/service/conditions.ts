// Conditions on fields of documents: their form in an address, and the expression that the service evaluates.

import { isMap, type Json, type Query, writeJson } from '../wire/json.ts'
import { literal, tagOf } from '../wire/refs.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { variable } from './data.ts'

/** Operators in the order of the form. */
export const operators = [
  ['is', 'is'],
  ['not', 'is not'],
  ['has', 'contains'],
  ['begins', 'begins with'],
  ['lt', '<'],
  ['lte', '≤'],
  ['gt', '>'],
  ['gte', '≥'],
  ['there', 'exists'],
  ['missing', 'is missing'],
] as const

export type Operator = (typeof operators)[number][0]

export interface Condition {
  /** Path of the field within the data. */
  readonly path: readonly string[]
  readonly operator: Operator
  /** Null for operators without a value. */
  readonly value: Json
}

export function comparesWithValue(operator: Operator): boolean {
  return operator !== 'there' && operator !== 'missing'
}

/** Returns the path of a field in `fields`; for other texts, the parts between the dots. */
export function pathOf(typed: string, fields: FieldPaths): readonly string[] {
  return fields.get(typed) ?? typed.split('.')
}

export function operatorText(operator: Operator): string {
  return operators.find(([name]) => name === operator)?.[1] ?? operator
}

/** Leaves out invalid conditions. */
export function readConditions(json: Json | undefined): readonly Condition[] {
  if (!Array.isArray(json)) return []
  return (json as readonly Json[]).flatMap(each => {
    if (!Array.isArray(each)) return []
    const [path, name, value = null] = each as readonly Json[]
    const operator = operators.find(([known]) => known === name)?.[0]
    const isPath = Array.isArray(path) && path.length > 0 && path.every(step => typeof step === 'string')
    return isPath && operator !== undefined ? [{ path, operator, value }] : []
  })
}

/** A parameter of an address; undefined without conditions. */
export function conditionsText(conditions: readonly Condition[]): string | undefined {
  if (conditions.length === 0) return undefined
  return writeJson(conditions.map(({ path, operator, value }) => [path, operator, value]))
}

/** Returns a query that tests the document in the expression `document`. */
export function fulfils(conditions: readonly Condition[], document: Query): Query {
  const each = conditions.map(condition => fulfilsOne(condition, document))
  return each.length === 1 ? (each[0] as Query) : { and: each }
}

function fulfilsOne({ path, operator, value }: Condition, document: Query): Query {
  return {
    let: [{ field: { select: ['data', ...path], from: document, default: null } }],
    in: testOf(operator, variable('field'), value),
  }
}

function testOf(operator: Operator, field: Query, value: Json): Query {
  switch (operator) {
    case 'is':
      return { equals: [field, literal(value)] }
    case 'not':
      return { not: { equals: [field, literal(value)] } }
    case 'there':
      return { not: { equals: [field, null] } }
    case 'missing':
      return { equals: [field, null] }
    case 'has':
      return contains(field, value)
    case 'begins': {
      const begins = { startswith: { lowercase: field }, search: textOf(value).toLowerCase() }
      return { if: { is_string: field }, then: begins, else: false }
    }
    default:
      return comparisonOf(operator, field, value)
  }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : writeJson(value)
}

/** A text contains another one (ignoring case), or a list contains the value. */
function contains(field: Query, value: Json): Query {
  const text = { containsstr: { lowercase: field }, search: textOf(value).toLowerCase() }
  const list = { if: { is_array: field }, then: { contains_value: literal(value), in: field }, else: false }
  return { if: { is_string: field }, then: text, else: list }
}

/**
 * Compares only values of the same type. The language can also compare values of different types, but users do not
 * expect that a filter `> 5` finds texts.
 */
function comparisonOf(operator: 'lt' | 'lte' | 'gt' | 'gte', field: Query, value: Json): Query {
  const test: Query = { [operator]: [field, literal(value)] }
  const type = typeTest(value)
  return type === undefined ? test : { if: { [type]: field }, then: test, else: false }
}

function typeTest(value: Json): string | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return 'is_number'
  if (typeof value === 'string') return 'is_string'
  if (!isMap(value)) return undefined
  return { '@ts': 'is_timestamp', '@date': 'is_date' }[tagOf(value) ?? '']
}
