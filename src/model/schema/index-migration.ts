// Stored indexes after migration steps. If the migrated documents have the same index rows, only the paths of the fields
// change, and the index is not rebuilt.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'
import type { FieldNames, Step } from './migration-steps.ts'
import type { Path } from './paths.ts'

/** The stored fields of an index after `steps`; undefined if `steps` can change the rows. */
export function indexAfter(index: ObjectValue, steps: readonly Step[]): ObjectValue | undefined {
  if (steps.length === 0) return index
  let changed: Map<string, Value> | undefined
  for (const list of ['terms', 'values']) {
    const fields = index.get(list)
    if (!isArray(fields)) continue
    const after: Value[] = []
    for (const field of fields) {
      const kept = fieldAfter(field, steps)
      if (kept === undefined) return undefined
      after.push(kept)
    }
    if (after.every((field, position) => field === fields[position])) continue
    changed ??= new Map(index)
    changed.set(list, after)
  }
  return changed ?? index
}

function fieldAfter(field: Value, steps: readonly Step[]): Value | undefined {
  // A computed field can read all other fields, so `steps` can change its values.
  if (!isObject(field) || field.has('binding')) return undefined
  const stored = field.get('field')
  if (!isArray(stored) || stored[0] !== 'data') return field
  let path: Path | undefined = stored
    .slice(1)
    .filter(part => typeof part === 'string' || typeof part === 'bigint')
  const before = path
  for (const step of steps) {
    path = pathAfter(path, step)
    if (path === undefined) return undefined
  }
  return path === before ? field : new Map(field).set('field', ['data', ...path])
}

/** Returns undefined if the step can change the value. */
function pathAfter(path: Path, step: Step): Path | undefined {
  switch (step.kind) {
    case 'move':
      if (begins(path, step.from)) return [...step.to, ...path.slice(step.from.length)]
      return overlaps(path, step.from) || replaces(path, step.to) ? undefined : path
    case 'add':
    case 'drop':
      return overlaps(path, step.path) ? undefined : path
    case 'split':
      return overlaps(path, step.from) || step.targets.some(target => replaces(path, target.path))
        ? undefined
        : path
    case 'move conflicts':
      return overlaps(path, [step.into]) ? undefined : path
    case 'move wildcard': {
      const isKept = step.keep.some(name => name === path[0])
      return isKept && !overlaps(path, [step.into]) ? path : undefined
    }
  }
}

/** Returns whether `path` begins with all names of `field`. */
function begins(path: Path, field: FieldNames): boolean {
  return field.length <= path.length && field.every((name, index) => name === path[index])
}

/** Returns whether a change of `field` can change the value at `path`. */
function overlaps(path: Path, field: FieldNames): boolean {
  const length = Math.min(path.length, field.length)
  return field.slice(0, length).every((name, index) => name === path[index])
}

/**
 * Returns whether setting `field` can change the value at `path`. For example, setting `a` can rename an undeclared
 * field `a` to `_a`, which changes the values at paths that begin with `_a`.
 */
function replaces(path: Path, field: FieldNames): boolean {
  if (overlaps(path, field)) return true
  const [[first], [name = '']] = [path, field]
  return typeof first === 'string' && first.endsWith(name) && /^_+$/.test(first.slice(0, -name.length))
}
