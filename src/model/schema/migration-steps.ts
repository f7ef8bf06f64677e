// The steps of a migration, and their stored form: the definition of a collection contains the steps with their commit
// times. The steps and their rules are those of the hosted service.

import { assert, unreachable } from '../../base/assert.ts'
import { migrationField, stepTimeField } from '../../storage/store/definitions.ts'
import { equalValues } from '../../values/equality.ts'
import { isArray, isObject, type ObjectValue, TransactionTime, type Value } from '../../values/value.ts'
import { partsIn } from './definition-parts.ts'
import { type FieldType, objectOf, readType, storedType } from './field-types.ts'

/** A path of field names from the top level of the data. */
export type FieldNames = readonly string[]

/** A step sets this field of a document to `value` if the field contains no value of the type. */
export interface TargetField<V = Value> {
  readonly path: FieldNames
  readonly type: FieldType
  /** The default value; null if there is none. */
  readonly value: V
}

/** `V` is the type of default values: `Value`, or the type of an expression that is not evaluated yet. */
export type Step<V = Value> =
  | ({ readonly kind: 'add' } & TargetField<V>)
  | { readonly kind: 'drop'; readonly path: FieldNames }
  | { readonly kind: 'move'; readonly from: FieldNames; readonly to: FieldNames }
  /**
   * Moves the value in `from` to the first target with a matching type, or else to the last target. All other targets
   * are set to their default values.
   */
  | { readonly kind: 'split'; readonly from: FieldNames; readonly targets: readonly TargetField<V>[] }
  /**
   * Moves displaced values into the object in the field `into`: an `add` step removes values that do not match its
   * type.
   */
  | { readonly kind: 'move conflicts'; readonly into: string }
  /** Moves the top-level fields, except those in `keep`, into the object in the field `into`. */
  | { readonly kind: 'move wildcard'; readonly into: string; readonly keep: readonly string[] }

function storedStep(step: Step): Map<string, Value> {
  switch (step.kind) {
    case 'add':
      return objectOf({ add: storedField(step) })
    case 'drop':
      return objectOf({ drop: step.path })
    case 'move':
      return objectOf({ move: step.from, to: step.to })
    case 'split':
      return objectOf({ split: step.from, to: step.targets.map(storedField) })
    case 'move conflicts':
      return objectOf({ move_conflicts: step.into })
    case 'move wildcard':
      return objectOf({ move_wildcard: step.into, keep: step.keep })
    default:
      return unreachable(step)
  }
}

function storedField({ path, type, value }: TargetField): Value {
  const stored = objectOf({ path, type: storedType(type) })
  return value === null ? stored : stored.set('value', value)
}

export function readStep(stored: ObjectValue): Step {
  const [add, drop, move, split] = ['add', 'drop', 'move', 'split'].map(name => stored.get(name))
  if (add !== undefined) return { kind: 'add', ...readField(add) }
  if (drop !== undefined) return { kind: 'drop', path: readPath(drop) }
  const to = stored.get('to') ?? null
  if (move !== undefined) return { kind: 'move', from: readPath(move), to: readPath(to) }
  if (split !== undefined && isArray(to))
    return { kind: 'split', from: readPath(split), targets: to.map(readField) }
  const into = stored.get('move_conflicts')
  if (typeof into === 'string') return { kind: 'move conflicts', into }
  const wildcard = stored.get('move_wildcard')
  assert(typeof wildcard === 'string', 'a stored step is of a kind that is known')
  return { kind: 'move wildcard', into: wildcard, keep: readPath(stored.get('keep') ?? null) }
}

function readField(stored: Value): TargetField {
  assert(isObject(stored), 'a field that gets values is an object')
  const [path, type] = [stored.get('path') ?? null, stored.get('type') ?? null]
  return { path: readPath(path), type: readType(type), value: stored.get('value') ?? null }
}

function readPath(stored: Value): FieldNames {
  assert(isArray(stored), 'a path is a list of names')
  return stored.filter(name => typeof name === 'string')
}

function stepsIn(definition: ObjectValue | undefined): readonly ObjectValue[] {
  return partsIn(definition, migrationField)
}

/** Sets the steps of a definition to those of `live`, the definition before this transaction, followed by `steps`. */
export function appendSteps(
  definition: Map<string, Value>,
  live: ObjectValue | undefined,
  steps: readonly Step[],
): void {
  const added = steps.map(step => storedStep(step).set(stepTimeField, TransactionTime.micros))
  const all = [...stepsIn(live), ...added]
  if (all.length === 0) definition.delete(migrationField)
  else definition.set(migrationField, all)
}

/**
 * The steps that a write adds to a definition, perhaps none. Returns undefined if the same transaction has already
 * added different steps.
 */
export function addedSteps(before: ObjectValue | undefined, after: ObjectValue): readonly Step[] | undefined {
  const [known, added] = [before, after].map(definition =>
    stepsIn(definition).filter(stored => stored.get(stepTimeField) instanceof TransactionTime),
  )
  if (equalValues(known ?? [], added ?? [])) return []
  return known?.length === 0 ? (added ?? []).map(readStep) : undefined
}
