// Merges the written fields of a document with the stored fields, and validates the result.

import type { Version } from '../storage/store/store-contract.ts'
import type { ObjectValue, Ref, Value } from '../values/value.ts'
import { Failure, type FailurePlace, type Fault, type FieldFailure } from './failure.ts'
import { applyPatch } from './resources/patch.ts'
import {
  type Draft,
  type FieldSpec,
  failure,
  type Resource,
  type WriteMode,
  type WriteRules,
} from './resources/resource.ts'
import type { Session } from './session.ts'

/**
 * Merges `params`, the fields in the query, into `base`: the stored fields of an updated document, the preserved fields
 * of a replaced document, or the defaults of a new document. Records invalid fields in the draft. Throws a {@link
 * Failure} if other rules are violated.
 */
export function draftOf(
  mode: WriteMode,
  ref: Ref,
  previous: Version | undefined,
  base: ObjectValue,
  params: ObjectValue,
  resource: Resource,
  session: Session,
  rules: WriteRules = {},
): Draft {
  const patch = knownFields(params, resource, mode, rules)
  const fields = applyPatch(base, storedFields(patch, resource), rules.keepsEmpty)
  const data = fields.get('data')
  if (data instanceof Map && data.size === 0 && !rules.keepsEmpty) fields.delete('data')
  rules.normalize?.(fields)
  const failures = fieldFailures(fields, patch, resource)
  const draft: Draft = {
    mode,
    ref,
    previous,
    patch,
    fields,
    failures,
    typeFailures: [],
    shown: new Map(),
    omitted: new Set(),
    session,
    rules,
  }
  resource.complete?.(draft)
  return draft
}

/**
 * Removes unknown fields, fields that only other languages write and, unless the document is created, `createOnly`
 * fields.
 */
export function knownFields(
  params: ObjectValue,
  resource: Resource,
  mode: WriteMode,
  rules: WriteRules,
): ObjectValue {
  const known = new Map<string, Value>()
  for (const [name, value] of params) {
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined
    if (field?.schemaOnly && !rules.writesSchema) continue
    if (field && (mode === 'create' || !field.createOnly)) known.set(name, value)
  }
  return known
}

function storedFields(patch: ObjectValue, resource: Resource): ObjectValue {
  let stored: Map<string, Value> | undefined
  for (const name of patch.keys()) {
    if (!resource.fields[name]?.transient) continue
    stored ??= new Map(patch)
    stored.delete(name)
  }
  return stored ?? patch
}

export function preservedFields(fields: ObjectValue, resource: Resource, rules: WriteRules): ObjectValue {
  const isPreserved = (name: string) => {
    const field = resource.fields[name]
    if (rules.replacesAllFields && field !== undefined && !field.createOnly) return false
    if (resource.preservedOnReplace?.includes(name)) return true
    return !rules.writesSchema && field?.schemaOnly === true
  }
  return new Map([...fields].filter(([name]) => isPreserved(name)))
}

function fieldFailures(fields: ObjectValue, patch: ObjectValue, resource: Resource): FieldFailure[] {
  const failures: FieldFailure[] = []
  for (const name in resource.fields) {
    const field = resource.fields[name] as FieldSpec
    const value = field.transient ? (patch.get(name) ?? undefined) : fields.get(name)
    if (value !== undefined) failures.push(...(field.check?.(value, [name]) ?? []))
    else if (field.required) failures.push(failure([name], { kind: 'required' }))
  }
  return failures
}

/** Throws a {@link Failure} for the recorded failures, if any. `place`: the part of the query to which errors refer. */
export function throwFailures({ failures, typeFailures }: Draft, place: FailurePlace = 'call'): void {
  const faults: (Fault & { readonly place: FailurePlace })[] = []
  if (failures.length > 0) faults.push({ kind: 'invalid fields', failures, place })
  if (typeFailures.length > 0) faults.push({ kind: 'mistyped', failures: typeFailures, place })
  if (faults.length > 0) throw new Failure(faults)
}
