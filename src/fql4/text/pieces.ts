// Calls, arrays, objects and scalars as parts of printed expressions.

import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import { Group, item, type Piece } from './layout.ts'

export type Fields = ReadonlyMap<string, Json>

export function call(name: string, ...pieces: readonly Piece[]): Group {
  return new Group(`${name}(`, pieces.map(item), ')')
}

export function array<T>(items: readonly T[], piece: (each: T) => Piece): Group {
  return new Group(
    '[',
    items.map(each => item(piece(each))),
    ']',
  )
}

const identifier = /^[A-Za-z_$][\w$]*$/

export function object(fields: Iterable<readonly [string, Json]>, piece: (json: Json) => Piece): Group {
  const items = [...fields].map(([name, json]) => ({
    head: `${identifier.test(name) ? name : JSON.stringify(name)}: `,
    piece: piece(json),
  }))
  return new Group('{', items, '}')
}

export function scalar(json: Exclude<Json, Fields | readonly Json[]>): string {
  // `JSON.stringify` escapes a lone surrogate, so the text remains valid Unicode.
  return typeof json === 'string' ? JSON.stringify(json) : writeJson(json)
}

export function isArray(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json)
}

export function isFields(json: Json | undefined): json is Fields {
  return json instanceof Map
}
