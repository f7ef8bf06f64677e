// Decides whether a change of a document affects the watched fields of a source.

import { step } from '../../base/effort.ts'
import type { Call } from '../call.ts'
import { equalElements } from '../comparison.ts'
import { Doc, Id, isArray, isNull, isStruct, type Value, type WatchedPath } from '../value.ts'
import type { Moment } from './moments.ts'

/** A document at a time; undefined if it did not exist. */
type Seen = readonly [document: Doc, moment: Moment] | undefined

/**
 * True if a change counts: a creation with any of the watched fields, an update of any of them, or the removal of a
 * document with all of them.
 */
export function watchedChange(watched: readonly WatchedPath[], before: Seen, after: Seen): boolean {
  if (before === undefined) return watched.some(path => valueAt(path, after) !== undefined)
  if (after === undefined) return watched.every(path => valueAt(path, before) !== undefined)
  return watched.some(path => {
    const [old, next] = [valueAt(path, before), valueAt(path, after)]
    return old === undefined || next === undefined ? old !== next : !equalElements(old, next)
  })
}

function valueAt(path: WatchedPath, seen: Seen): Value | undefined {
  if (seen === undefined) return undefined
  const [document, { call }] = seen
  let value: Value | undefined = document
  for (const part of path) {
    step()
    value = value === undefined ? undefined : partOf(value, part, call)
  }
  return value === undefined || isNull(value) ? undefined : value
}

function partOf(value: Value, part: string | bigint, call: Call): Value | undefined {
  if (typeof part === 'bigint') return isArray(value) ? value[Number(part)] : undefined
  if (isStruct(value)) return value.get(part)
  if (!(value instanceof Doc)) return undefined
  if (part === 'id') return new Id(value.ref.id)
  const { world } = call.evaluation
  return world.absence(value, call) === undefined ? world.field(value, part, call) : undefined
}
