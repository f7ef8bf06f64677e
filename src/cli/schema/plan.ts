// Compares the schema of a database with the files of a folder, and makes the steps of a query that changes the schema.

import { allObjects, object } from '../../transfer/query-json.ts'
import { memberOf } from '../../transfer/references.ts'
import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import type { QueryConnection, Reply } from '../client/connection.ts'
import { CommandError } from '../command.ts'
import type { FileObject } from './folder.ts'
import { definingFields, idOf, kinds, type SchemaObject } from './kinds.ts'

export type SchemaChange =
  | { readonly action: 'create'; readonly wanted: SchemaObject; readonly written: FileObject }
  | {
      readonly action: 'change' | 'rebuild'
      readonly wanted: SchemaObject
      readonly written: FileObject
      readonly fields: readonly string[]
    }
  | { readonly action: 'delete'; readonly present: SchemaObject }

/** The changes that make a database equal to a folder. */
export interface SchemaPlan {
  readonly changes: readonly SchemaChange[]
  readonly unchanged: number
  /** Objects that are only in the database; the plan does not delete them. */
  readonly extra: readonly SchemaObject[]
}

/** `wanted`: the evaluated objects of `written`, in the same order. */
export function makePlan(
  wanted: readonly SchemaObject[],
  written: readonly FileObject[],
  present: readonly SchemaObject[],
  mayDelete: boolean,
): SchemaPlan {
  const remaining = new Map(present.map(object => [idOf(object), object]))
  const changes: SchemaChange[] = []
  for (const [index, object] of wanted.entries()) {
    const change = changeFor(object, written[index] as FileObject, remaining.get(idOf(object)))
    remaining.delete(idOf(object))
    if (change) changes.push(change)
  }
  const extra = [...remaining.values()]
  const unchanged = wanted.length - changes.length
  if (mayDelete) changes.push(...extra.map(object => ({ action: 'delete', present: object }) as const))
  return { changes, unchanged, extra: mayDelete ? [] : extra }
}

function changeFor(
  wanted: SchemaObject,
  written: FileObject,
  present: SchemaObject | undefined,
): SchemaChange | undefined {
  if (!present) return { action: 'create', wanted, written }
  const names = new Set([...wanted.fields.keys(), ...present.fields.keys()])
  const fields = [...names].filter(name => !sameField(wanted.fields.get(name), present.fields.get(name)))
  if (fields.length === 0) return undefined
  const isImmutable = fields.some(name => wanted.kind.immutable.has(name))
  return { action: isImmutable ? 'rebuild' : 'change', wanted, written, fields }
}

/** Treats a single element in terms, privileges and paths like an array with this element. */
function sameField(left: Json | undefined, right: Json | undefined): boolean {
  return sameJson(left, right) || sameJson(asList(left), asList(right))
}

function asList(json: Json | undefined): Json | undefined {
  return json === undefined || Array.isArray(json) ? json : [json]
}

interface Step {
  readonly query: Json
  /** The object in a file that the step creates or changes; undefined for deletions. */
  readonly written: FileObject | undefined
}

/** Returns the steps in an order in which referenced objects exist. All steps must run in one query. */
export function stepsOf({ changes }: SchemaPlan): readonly Step[] {
  const created = new Set(changes.flatMap(each => (each.action === 'create' ? [idOf(each.wanted)] : [])))
  const later: Step[] = []
  const steps: Step[] = []
  for (const kind of kinds) {
    for (const change of changes) {
      if (change.action === 'delete' || change.wanted.kind !== kind) continue
      const { first, afterRoles } = stepsFor(change, created)
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

/**
 * Roles and functions may refer to each other, so a function gets a new role only after the step that creates the role.
 */
function stepsFor(
  change: Exclude<SchemaChange, { action: 'delete' }>,
  created: ReadonlySet<string>,
): { readonly first: readonly Step[]; readonly afterRoles: readonly Step[] } {
  const { wanted, written } = change
  const { kind } = wanted
  const ref = referenceTo(wanted)
  const role = kind.name === 'function' ? newRole(wanted.fields.get('role'), created) : undefined
  const params = role === undefined ? written.params : withoutField(written.params, 'role')
  const step = (query: Json): Step => ({ query, written })
  const afterRoles =
    role === undefined ? [] : [step(object({ update: ref, params: object({ object: object({ role }) }) }))]
  if (change.action === 'create') return { first: [step(object({ [kind.create]: params }))], afterRoles }
  if (change.action === 'rebuild') {
    const again = [step(object({ delete: ref })), step(object({ [kind.create]: params }))]
    return { first: again, afterRoles }
  }
  // An index cannot be replaced, so one update removes the changed fields, and a second update sets them.
  if (kind.name === 'index') {
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

/** Default values of changed fields that are not in the file. Without them, a replacement would keep the old values. */
function initialFields(
  { wanted: { kind }, fields: changed }: Extract<SchemaChange, { readonly fields: readonly string[] }>,
  written: ReadonlyMap<string, Json>,
): readonly (readonly [string, Json])[] {
  return changed.flatMap(name => {
    const initial = written.has(name) ? undefined : kind.defaults.get(name)
    return initial === undefined ? [] : [[name, initial] as const]
  })
}

/** Refers to the role if this push creates it; undefined for existing roles. */
function newRole(role: Json | undefined, created: ReadonlySet<string>): Json | undefined {
  const name = memberOf(role, '@ref', 'id')
  return typeof name === 'string' && created.has(`roles/${name}`) ? object({ role: name }) : undefined
}

function withoutField(params: Json, name: string): Json {
  return mapFields(params, fields => new Map([...fields].filter(([key]) => key !== name)))
}

function mapFields(params: Json, change: (fields: ReadonlyMap<string, Json>) => Json): Json {
  const fields = memberOf(params, 'object')
  return fields instanceof Map ? object({ object: change(fields) }) : params
}

/** Throws {@link CommandError} when the caller may not read the objects. */
export async function readSchema(connection: QueryConnection): Promise<readonly SchemaObject[]> {
  const found: SchemaObject[] = []
  for (const kind of kinds) {
    const runQuery = async (query: Json) => resourceOf(await connection.query(query), kind.listing)
    for (const fields of await allObjects(runQuery, kind.listing)) {
      const name = fields.get('name')
      if (typeof name === 'string') found.push({ kind, name, fields: definingFields(kind, fields) })
    }
  }
  return found
}

/** Throws {@link CommandError} if the query failed. */
function resourceOf(reply: Reply, what: string): Json {
  if (reply.kind === 'resource') return reply.resource
  const [error] = reply.errors
  throw new CommandError(`the ${what} cannot be read: ${error?.code}: ${error?.description}`)
}

/** The order of fields does not matter. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return writeJson(inOrder(left)) === writeJson(inOrder(right))
}

function inOrder(json: Json): Json {
  if (Array.isArray(json)) return json.map(inOrder)
  if (!(json instanceof Map)) return json
  return new Map(
    [...json].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, inOrder(value)]),
  )
}
