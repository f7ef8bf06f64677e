// Which table a value's fields and methods are in, and the modules that every query sees.

import { isNull, Module, type Value } from '../value.ts'
import { arrayMembers } from './array.ts'
import { type FieldDefinition, type FunctionDefinition, type Members, membersOfModule } from './definition.ts'
import { mathModule } from './math.ts'
import { stringMembers } from './string.ts'

/** The modules of the library by name. */
export const modules: ReadonlyMap<string, Module> = new Map(
  [mathModule].map(table => [table.name, new Module(table.name, table)]),
)

/** The table of a value's type, undefined where it has no members. */
function tableOf(value: Value): Members | undefined {
  if (typeof value === 'string') return stringMembers
  if (Array.isArray(value)) return arrayMembers
  if (value instanceof Module) return membersOfModule(value)
  return undefined
}

/** A member of a value by its name; nulls have been dealt with before. */
export function memberOf(value: Value, name: string): FieldDefinition | FunctionDefinition | undefined {
  return isNull(value) ? undefined : tableOf(value)?.entries.get(name)
}
