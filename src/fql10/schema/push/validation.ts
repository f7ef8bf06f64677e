// Checks the items of all files together. The types of fields must exist and be storable. The resources and roles to
// which an item refers must exist.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { type Message, msg } from '../../../base/message.ts'
import { isBuiltinRole } from '../../../model/auth/builtin-role.ts'
import { referable } from '../../../model/schema/collection-rules.ts'
import type { FindCollection, ReferredCollection } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import type { TypeNode } from '../../syntax/nodes.ts'
import type { Source } from '../../syntax/source.ts'
import type { OutlineName } from '../fsl/outline.ts'
import {
  type CollectionItem,
  namesOf,
  type ProviderItem,
  type RoleItem,
  type SchemaItem,
} from '../fsl/schema-items.ts'
import { resolveSignature } from '../signatures.ts'

/** Functions and roles of version 4 that schema files cannot express. */
export interface ForeignNames {
  readonly functions: readonly string[]
  readonly roles: readonly string[]
}

/** Resources and roles are checked only if the types have no fault. */
export function itemFaults(items: readonly SchemaItem[], others: ForeignNames): readonly Diagnostic[] {
  const collections = items.filter(item => item.kind === 'collection')
  const find = finderOf(collections)
  const faults = collections.flatMap(item => typeFaults(item, find))
  if (faults.length > 0) return faults
  const members = new Set([...collections.flatMap(namesOf), ...nativeResources])
  const functions = items.filter(item => item.kind === 'function').flatMap(namesOf)
  const resources = new Set([...members, ...functions, ...others.functions])
  const roles = items.filter(item => item.kind === 'role')
  const roleNames = new Set([...roles.map(({ name }) => name.text), ...others.roles])
  return [
    ...roles.flatMap(role => resourceFaults(role, members, resources)),
    ...items.flatMap(item => (item.kind === 'access provider' ? roleFaults(item, roleNames) : [])),
  ]
}

const nativeResources: readonly string[] = [
  ...['Key', 'Token', 'Credential', 'Credentials', 'Database', 'Collection', 'Function', 'Role'],
  'AccessProvider',
]

/** Finds a collection by the name in a type. The numbers are temporary, because files contain no numbers. */
function finderOf(collections: readonly CollectionItem[]): FindCollection {
  const found = new Map<string, ReferredCollection>(
    Array.from(referable, ([name, number]) => [name, { number, name }]),
  )
  collections.forEach((item, index) => {
    for (const name of namesOf(item)) found.set(name, { number: -1 - index, name: item.name.text })
  })
  return name => found.get(name)
}

function fault(
  source: Source,
  message: Message,
  { end, start }: Pick<OutlineName, 'start' | 'end'>,
): Diagnostic {
  return { name: 'error', message, span: { source, start, end } }
}

function typeFaults({ members, name, source }: CollectionItem, find: FindCollection): readonly Diagnostic[] {
  step(stepsPerDefinition)
  return members.flatMap((member): readonly Diagnostic[] => {
    if (member.kind === 'wildcard') {
      const { type } = member
      const isAny = type.kind === 'name' && type.name === 'Any' && type.arguments.length === 0
      return isAny ? [] : [fault(source, msg`Top-level wildcard must have type \`Any\``, type)]
    }
    if (member.kind !== 'field') return []
    return fieldFaults(member.type, `Field \`${member.name.text}\` in collection ${name.text}`, source, find)
  })
}

function fieldFaults(
  type: TypeNode,
  field: string,
  source: Source,
  find: FindCollection,
): readonly Diagnostic[] {
  const { faults, unstorable } = resolveSignature(type, source, find)
  if (faults.length > 0 || unstorable.length === 0) return faults
  return [{ ...fault(source, msg`${field} is not persistable`, type), remarks: unstorable }]
}

function resourceFaults(
  { members, source }: RoleItem,
  collections: ReadonlySet<string>,
  resources: ReadonlySet<string>,
): readonly Diagnostic[] {
  const missing = (kind: 'membership' | 'privileges', known: ReadonlySet<string>) =>
    members
      .filter(member => member.kind === kind && !known.has(member.name.text))
      .map(({ name }) => fault(source, msg`Resource \`${name.text}\` does not exist`, name))
  return [...missing('membership', collections), ...missing('privileges', resources)]
}

function roleFaults({ members, source }: ProviderItem, roles: ReadonlySet<string>): readonly Diagnostic[] {
  return members.flatMap(member => {
    if (member.kind !== 'role') return []
    const { name } = member
    if (isBuiltinRole(name.text)) {
      return [fault(source, msg`Builtin role \`${name.text}\` is not allowed`, name)]
    }
    return roles.has(name.text) ? [] : [fault(source, msg`Role \`${name.text}\` does not exist`, name)]
  })
}
