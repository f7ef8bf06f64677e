// Which table a value's fields and methods are in, and the modules that every query sees.

import { BoundFunction, isNull, Module, type Value } from '../value.ts'
import { arrayMembers } from './array.ts'
import { type FieldDefinition, type FunctionDefinition, type Members, membersOfModule } from './definition.ts'
import { globalFunctions } from './globals.ts'
import { mathModule } from './math.ts'
import { nullMembers } from './null.ts'
import { stringMembers } from './string.ts'

/** The modules of the library. */
const modules = [mathModule].map(table => new Module(table.name, table))

/** What every query sees by name: modules and functions. */
export const globals: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...modules.map(module => [module.name, module] as const),
  ...globalFunctions.map(definition => [definition.name, new BoundFunction(null, definition)] as const),
])

/** The table of a value's type, undefined where it has no members. */
function tableOf(value: Value): Members | undefined {
  if (typeof value === 'string') return stringMembers
  if (Array.isArray(value)) return arrayMembers
  if (value instanceof Module) return membersOfModule(value)
  return isNull(value) ? nullMembers : undefined
}

/** A member of a value by its name. */
export function memberOf(value: Value, name: string): FieldDefinition | FunctionDefinition | undefined {
  return tableOf(value)?.entries.get(name)
}
