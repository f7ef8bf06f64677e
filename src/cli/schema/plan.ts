// What has to change in a database so that its schema is that of a folder, and the one query that changes it.

import { object } from '../../transfer/query-json.ts'
import type { Json } from '../../values/value.ts'
import { sameJson } from './database.ts'
import type { WrittenObject } from './folder.ts'
import { idOf, kinds, type SchemaObject } from './kinds.ts'

/** One change. */
export type SchemaChange =
  | { readonly action: 'create'; readonly wanted: SchemaObject; readonly written: WrittenObject }
  | {
      readonly action: 'change' | 'build again'
      readonly wanted: SchemaObject
      readonly written: WrittenObject
      readonly fields: readonly string[]
    }
  | { readonly action: 'delete'; readonly present: SchemaObject }

/** The differences between a folder and a database. */
export interface SchemaPlan {
  readonly changes: readonly SchemaChange[]
  readonly unchanged: number
  /** In the database alone; deleted only when that is asked for. */
  readonly extra: readonly SchemaObject[]
}

/** Compares. `wanted` are the evaluated objects of `written`, in the same order. */
export function makePlan(
  wanted: readonly SchemaObject[],
  written: readonly WrittenObject[],
  present: readonly SchemaObject[],
  mayDelete: boolean,
): SchemaPlan {
  const there = new Map(present.map(object => [idOf(object), object]))
  const changes: SchemaChange[] = []
  for (const [index, object] of wanted.entries()) {
    const change = changeFor(object, written[index] as WrittenObject, there.get(idOf(object)))
    there.delete(idOf(object))
    if (change) changes.push(change)
  }
  const extra = [...there.values()]
  const unchanged = wanted.length - changes.length
  if (mayDelete) changes.push(...extra.map(object => ({ action: 'delete', present: object }) as const))
  return { changes, unchanged, extra: mayDelete ? [] : extra }
}

function changeFor(
  wanted: SchemaObject,
  written: WrittenObject,
  present: SchemaObject | undefined,
): SchemaChange | undefined {
  if (!present) return { action: 'create', wanted, written }
  const names = new Set([...wanted.fields.keys(), ...present.fields.keys()])
  const fields = [...names].filter(name => !sameField(wanted.fields.get(name), present.fields.get(name)))
  if (fields.length === 0) return undefined
  const isFixed = fields.some(name => wanted.kind.fixed.has(name))
  return { action: isFixed ? 'build again' : 'change', wanted, written, fields }
}

/** One thing may be written alone or as the only element of an array, as with terms, privileges and paths. */
function sameField(left: Json | undefined, right: Json | undefined): boolean {
  return sameJson(left, right) || sameJson(asList(left), asList(right))
}

function asList(json: Json | undefined): Json | undefined {
  return json === undefined || Array.isArray(json) ? json : [json]
}

// ------------------------------------------------------------------------------------------------- the query

/** A part of the query, and the file that it is about; undefined for deletions. */
interface Step {
  readonly query: Json
  readonly written: WrittenObject | undefined
}

/** The steps of a plan in an order in which everything that an object refers to is there. They belong in one query. */
export function stepsOf({ changes }: SchemaPlan): readonly Step[] {
  const made = new Set(changes.flatMap(each => (each.action === 'create' ? [idOf(each.wanted)] : [])))
  const later: Step[] = []
  const steps: Step[] = []
  for (const kind of kinds) {
    for (const change of changes) {
      if (change.action === 'delete' || change.wanted.kind !== kind) continue
      const { first, afterRoles } = stepsFor(change, made)
      steps.push(...first)
      later.push(...afterRoles)
    }
    if (kind.name === 'role') steps.push(...later.splice(0))
  }
  for (const kind of kinds.toReversed()) {
    for (const change of changes) {
      if (change.action !== 'delete' || change.present.kind !== kind) continue
      steps.push({ query: object({ delete: referenceTo(change.present) }), written: undefined })
    }
  }
  return steps
}

function referenceTo({ kind, name }: SchemaObject): Json {
  return object({ [kind.reference]: name })
}

/** Roles may refer to functions and functions to roles: a function gets a role that is new when that is there. */
function stepsFor(
  change: Exclude<SchemaChange, { action: 'delete' }>,
  made: ReadonlySet<string>,
): { readonly first: readonly Step[]; readonly afterRoles: readonly Step[] } {
  const { wanted, written } = change
  const { kind } = wanted
  const ref = referenceTo(wanted)
  const role = kind.name === 'function' ? newRole(wanted.fields.get('role'), made) : undefined
  const params = role === undefined ? written.params : withoutField(written.params, 'role')
  const step = (query: Json): Step => ({ query, written })
  const afterRoles =
    role === undefined ? [] : [step(object({ update: ref, params: object({ object: object({ role }) }) }))]
  if (change.action === 'create') return { first: [step(object({ [kind.create]: params }))], afterRoles }
  if (change.action === 'build again') {
    const again = [step(object({ delete: ref })), step(object({ [kind.create]: params }))]
    return { first: again, afterRoles }
  }
  // Indexes cannot be replaced: what can change of them is taken away and given again.
  if (kind.fixed.size > 0) {
    const cleared = object({ object: new Map(change.fields.map(name => [name, null])) })
    const given = mapFields(
      params,
      fields => new Map([...fields].filter(([name]) => change.fields.includes(name))),
    )
    const updates = [cleared, given].map(each => step(object({ update: ref, params: each })))
    return { first: updates, afterRoles }
  }
  const complete = mapFields(params, fields => new Map([...initialFields(change, fields), ...fields]))
  return { first: [step(object({ replace: ref, params: complete }))], afterRoles }
}

/** What the service adds to a new object, for changed fields that are not written: replacing would keep their values. */
function initialFields(
  { wanted: { kind }, fields: changed }: Extract<SchemaChange, { readonly fields: readonly string[] }>,
  written: ReadonlyMap<string, Json>,
): readonly (readonly [string, Json])[] {
  return changed.flatMap(name => {
    const initial = written.has(name) ? undefined : kind.given.get(name)
    return initial === undefined ? [] : [[name, initial] as const]
  })
}

/** The reference to a role that does not exist yet, as a query. */
function newRole(role: Json | undefined, made: ReadonlySet<string>): Json | undefined {
  const ref = role instanceof Map ? role.get('@ref') : undefined
  const name = ref instanceof Map ? ref.get('id') : undefined
  return typeof name === 'string' && made.has(`roles/${name}`) ? object({ role: name }) : undefined
}

function withoutField(params: Json, name: string): Json {
  return mapFields(params, fields => new Map([...fields].filter(([key]) => key !== name)))
}

/** Changes the fields of a written object. */
function mapFields(params: Json, change: (fields: ReadonlyMap<string, Json>) => Json): Json {
  const fields = params instanceof Map ? params.get('object') : undefined
  return fields instanceof Map ? object({ object: change(fields) }) : params
}
