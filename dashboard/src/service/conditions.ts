// Conditions on fields of documents: as they stand in an address, and as an expression that the service evaluates.

import { isMap, type Json, type Query, writeJson } from '../wire/json.ts'
import { literal, tagOf } from '../wire/refs.ts'
import type { FieldPaths } from '../wire/rows.ts'
import { variable } from './data.ts'

/** What a condition compares with, in the order in which it is offered. */
export const operators = [
  ['is', 'is'],
  ['not', 'is not'],
  ['has', 'contains'],
  ['begins', 'begins with'],
  ['lt', '<'],
  ['lte', '≤'],
  ['gt', '>'],
  ['gte', '≥'],
  ['there', 'is there'],
  ['missing', 'is missing'],
] as const

/** The name of one of {@link operators}. */
export type Operator = (typeof operators)[number][0]

/** A condition on one field. */
export interface Condition {
  /** The names that lead to the field within the data. */
  readonly path: readonly string[]
  readonly operator: Operator
  /** Null for the operators that compare with nothing. */
  readonly value: Json
}

/** Whether an operator compares with a value. */
export function comparesWithValue(operator: Operator): boolean {
  return operator !== 'there' && operator !== 'missing'
}

/** The names that lead to what was typed: to a field that was seen, else names with points in between. */
export function pathOf(typed: string, fields: FieldPaths): readonly string[] {
  return fields.get(typed) ?? typed.split('.')
}

/** A condition in words. */
export function operatorText(operator: Operator): string {
  return operators.find(([name]) => name === operator)?.[1] ?? operator
}

/** The conditions in a parameter of an address; what is none is left out. */
export function readConditions(json: Json | undefined): readonly Condition[] {
  if (!Array.isArray(json)) return []
  return (json as readonly Json[]).flatMap(each => {
    if (!Array.isArray(each)) return []
    const [path, name, value = null] = each as readonly Json[]
    const operator = operators.find(([known]) => known === name)?.[0]
    const isPath = Array.isArray(path) && path.length > 0 && path.every(step => typeof step === 'string')
    return isPath && operator !== undefined ? [{ path: path as readonly string[], operator, value }] : []
  })
}

/** Conditions as a parameter of an address; undefined for none. */
export function conditionsText(conditions: readonly Condition[]): string | undefined {
  if (conditions.length === 0) return undefined
  return writeJson(conditions.map(({ path, operator, value }) => [path, operator, value]))
}

/** Whether a document fulfils all conditions, as an expression; `document` is an expression for the document. */
export function fulfils(conditions: readonly Condition[], document: Query): Query {
  const each = conditions.map(condition => fulfilsOne(condition, document))
  return each.length === 1 ? (each[0] as Query) : { and: each }
}

function fulfilsOne({ path, operator, value }: Condition, document: Query): Query {
  const field: Query = {
    let: [{ field: { select: ['data', ...path], from: document, default: null } }],
    in: testOf(operator, variable('field'), value),
  }
  return field
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
      return compared(operator, field, value)
  }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : writeJson(value)
}

/** A text that contains another, in capital or small letters; or a list that holds the value. */
function contains(field: Query, value: Json): Query {
  const text = { containsstr: { lowercase: field }, search: textOf(value).toLowerCase() }
  const list = { if: { is_array: field }, then: { contains_value: literal(value), in: field }, else: false }
  return { if: { is_string: field }, then: text, else: list }
}

/** Values of different types have an order, too; who asks for what is above 5 does not mean texts. */
function compared(operator: 'lt' | 'lte' | 'gt' | 'gte', field: Query, value: Json): Query {
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
