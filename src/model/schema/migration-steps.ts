// The steps of a migration, and their effect on the data of a document. The definition of a collection contains the
// steps with their commit times. Reads of a document version apply the steps that were committed after the version
// (src/storage/store/version-reader.ts). Source of the rules: FQL v10 reference, migrations, section 8.

import { assert, unreachable } from '../../base/assert.ts'
import { step as count } from '../../base/effort.ts'
import { epoch, micros } from '../../base/micros.ts'
import { migrationField, stepTimeField } from '../../storage/store/definitions.ts'
import type { Migration } from '../../storage/store/store-contract.ts'
import { equalValues } from '../../values/equality.ts'
import {
  isArray,
  isObject,
  type Micros,
  type ObjectValue,
  TransactionTime,
  type Value,
} from '../../values/value.ts'
import { partsIn } from './definition-parts.ts'
import { type FieldType, objectOf, readType, storedType } from './field-types.ts'
import { isSamePath, valueAt } from './paths.ts'
import { typeFailures } from './type-check.ts'

/** A path of field names from the top level of the data. */
export type FieldNames = readonly string[]

/** Set by a step: if the field of a document contains no value of this type, it gets the default value. */
interface TargetField<V = Value> {
  readonly path: FieldNames
  readonly type: FieldType
  /** Null means no default value. */
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

// --------------------------------------------------------------------------------------- stored form

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

function readStep(stored: ObjectValue): Step {
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
 * The steps that a write adds to a definition, perhaps none. Undefined if the same transaction has already added
 * different steps.
 */
export function addedSteps(before: ObjectValue | undefined, after: ObjectValue): readonly Step[] | undefined {
  const [known, added] = [before, after].map(definition =>
    stepsIn(definition).filter(stored => stored.get(stepTimeField) instanceof TransactionTime),
  )
  if (equalValues(known ?? [], added ?? [])) return []
  return known?.length === 0 ? (added ?? []).map(readStep) : undefined
}

// ---------------------------------------------------------------------------------- effects on documents

interface TimedStep {
  readonly time: Micros
  readonly step: Step
}

/** The store applies the migration. */
export function readMigration(stored: Value): Migration {
  const timed: readonly TimedStep[] = isArray(stored)
    ? stored
        .filter(isObject)
        .map(each => ({ time: micros(Number(each.get(stepTimeField))), step: readStep(each) }))
    : []
  return {
    lastTime: timed.at(-1)?.time ?? epoch,
    apply(fields, shapeTime) {
      const due = timed.filter(({ time }) => time > shapeTime)
      if (due.length === 0) return fields
      const before = fields.get('data')
      const data = stepped(isObject(before) ? before : new Map(), due)
      if (data.size === 0 && before === undefined) return fields
      return new Map(fields).set('data', data)
    },
  }
}

/** `conflicts` contains displaced values, which a later step of the same commit can store. */
interface MigrationState {
  readonly data: MutableObject
  conflicts: MutableObject
}

/** A copy that this file has created. */
type MutableObject = Map<string, Value>

function stepped(data: ObjectValue, steps: readonly TimedStep[]): ObjectValue {
  const state: MigrationState = { data: new Map(data), conflicts: new Map() }
  let time: Micros | undefined
  for (const due of steps) {
    if (due.time !== time) state.conflicts = new Map()
    time = due.time
    take(due.step, state)
  }
  return state.data
}

function take(step: Step, state: MigrationState): void {
  count()
  const { conflicts, data } = state
  switch (step.kind) {
    case 'add':
      add(step, state)
      break
    case 'drop':
      remove(data, step.path)
      break
    case 'move':
      displace(data, step.to)
      place(data, step.to, remove(data, step.from))
      break
    case 'split':
      for (const { path } of step.targets) if (!isSamePath(step.from, path)) displace(data, path)
      split(step.from, step.targets, data)
      break
    case 'move conflicts':
      state.conflicts = new Map()
      gather(data, step.into, [...conflicts])
      break
    case 'move wildcard':
      gather(data, step.into, removeUndeclared(data, step))
      break
    default:
      unreachable(step)
  }
}

/** Removes and returns the top-level fields that are neither `into` nor in `keep`. */
function removeUndeclared(data: MutableObject, { into, keep }: Extract<Step, { kind: 'move wildcard' }>) {
  const undeclared = [...data].filter(([name]) => name !== into && !keep.includes(name))
  for (const [name] of undeclared) data.delete(name)
  return undeclared
}

function add({ path, type, value }: TargetField, { conflicts, data }: MigrationState): void {
  const found = valueAt(data, path)
  if (found !== undefined && found !== null) {
    if (hasType(type, found)) return
    place(conflicts, path, found)
    remove(data, path)
  }
  parentOf(data, path, true)
  place(data, path, value)
}

function split(from: FieldNames, targets: readonly TargetField[], data: MutableObject): void {
  const [first] = targets
  if (first === undefined) return
  if (!isSamePath(from, first.path)) place(data, first.path, remove(data, from))
  for (const [index, target] of targets.entries()) {
    const next = targets[index + 1]
    if (next === undefined) return
    const value = valueAt(data, target.path) ?? null
    const fits = value === null || hasType(target.type, value)
    if (!fits || value === null) fill(data, target)
    if (fits) fill(data, next)
    else place(data, next.path, value)
  }
}

function fill(data: MutableObject, { path, value }: TargetField): void {
  remove(data, path)
  place(data, path, value)
}

/**
 * Moves `fields` into the object in the top-level field `into`. Underscores before the name avoid a conflict with an
 * existing field.
 */
function gather(data: MutableObject, into: string, fields: readonly (readonly [string, Value])[]): void {
  if (fields.length === 0) return
  const before = data.get(into)
  const gathered: MutableObject = new Map(isObject(before) ? before : [])
  const sorted = [...fields].sort(([left], [right]) => underscores(left) - underscores(right))
  for (const [name, value] of sorted) {
    gathered.set(freeName(gathered, name), value)
  }
  data.set(into, gathered)
}

/** Prepends underscores to `name` until the object does not contain it. */
function freeName(object: ObjectValue, name: string): string {
  let free = name
  while (object.has(free)) free = `_${free}`
  return free
}

/**
 * Renames an undeclared field if a declared field needs the name. Undeclared fields exist only at the top level, in
 * collections with a wildcard.
 */
function displace(data: MutableObject, path: FieldNames): void {
  const [name = ''] = path
  if (path.length > 1 || !data.has(name)) return
  data.set(freeName(data, name), data.get(name) ?? null)
  data.delete(name)
}

function underscores(name: string): number {
  return name.length - name.replace(/^_+/, '').length
}

function hasType(type: FieldType, value: Value): boolean {
  return typeFailures(type, value, []).length === 0
}

/**
 * Replaces the objects on the path to a field by copies that may be changed. Returns the innermost copy. If `isMade` is
 * true, creates missing objects.
 */
function parentOf(data: MutableObject, path: FieldNames, isMade: boolean): MutableObject | undefined {
  let parent = data
  for (const name of path.slice(0, -1)) {
    const found = parent.get(name)
    const isThere = isObject(found)
    if (!isThere && !isMade) return undefined
    const copy: MutableObject = new Map(isThere ? found : [])
    parent.set(name, copy)
    parent = copy
  }
  return parent
}

/** Returns the value; undefined if the field does not exist. */
function remove(data: MutableObject, path: FieldNames): Value | undefined {
  const parent = parentOf(data, path, false)
  const name = path.at(-1) ?? ''
  const value = parent?.get(name)
  parent?.delete(name)
  return value
}

/** Does nothing if the value is undefined or null. */
function place(data: MutableObject, path: FieldNames, value: Value | undefined): void {
  if (value === undefined || value === null) return
  parentOf(data, path, true)?.set(path.at(-1) ?? '', value)
}
