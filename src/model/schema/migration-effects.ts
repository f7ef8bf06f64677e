// The effects of migration steps on the data of a document. Reads of a document version apply the steps that were
// committed after the version (src/storage/store/version-reader.ts).

import { unreachable } from '../../base/assert.ts'
import { step as count } from '../../base/effort.ts'
import { epoch, micros } from '../../base/micros.ts'
import { stepTimeField } from '../../storage/store/definitions.ts'
import type { Migration } from '../../storage/store/store-contract.ts'
import { isArray, isObject, type Micros, type ObjectValue, type Value } from '../../values/value.ts'
import type { FieldType } from './field-types.ts'
import { type FieldNames, readStep, type Step, type TargetField } from './migration-steps.ts'
import { isSamePath, valueAt } from './paths.ts'
import { typeFailures } from './type-check.ts'

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
      const later = timed.filter(({ time }) => time > shapeTime)
      if (later.length === 0) return fields
      const before = fields.get('data')
      const data = applySteps(isObject(before) ? before : new Map(), later)
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

function applySteps(data: ObjectValue, steps: readonly TimedStep[]): ObjectValue {
  const state: MigrationState = { data: new Map(data), conflicts: new Map() }
  let time: Micros | undefined
  for (const timed of steps) {
    if (timed.time !== time) state.conflicts = new Map()
    time = timed.time
    applyStep(timed.step, state)
  }
  return state.data
}

function applyStep(step: Step, state: MigrationState): void {
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
      setValue(data, step.to, remove(data, step.from))
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
    setValue(conflicts, path, found)
    remove(data, path)
  }
  parentOf(data, path, true)
  setValue(data, path, value)
}

function split(from: FieldNames, targets: readonly TargetField[], data: MutableObject): void {
  const [first] = targets
  if (first === undefined) return
  if (!isSamePath(from, first.path)) setValue(data, first.path, remove(data, from))
  for (const [index, target] of targets.entries()) {
    const next = targets[index + 1]
    if (next === undefined) return
    const value = valueAt(data, target.path) ?? null
    const fits = value === null || hasType(target.type, value)
    if (!fits || value === null) setDefault(data, target)
    if (fits) setDefault(data, next)
    else setValue(data, next.path, value)
  }
}

function setDefault(data: MutableObject, { path, value }: TargetField): void {
  remove(data, path)
  setValue(data, path, value)
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
 * Replaces the objects on the path to a field by copies that may be changed. Returns the innermost copy. If
 * `createsMissing` is true, creates missing objects.
 */
function parentOf(data: MutableObject, path: FieldNames, createsMissing: boolean): MutableObject | undefined {
  let parent = data
  for (const name of path.slice(0, -1)) {
    const found = parent.get(name)
    if (!isObject(found) && !createsMissing) return undefined
    const copy: MutableObject = new Map(isObject(found) ? found : [])
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
function setValue(data: MutableObject, path: FieldNames, value: Value | undefined): void {
  if (value === undefined || value === null) return
  parentOf(data, path, true)?.set(path.at(-1) ?? '', value)
}
