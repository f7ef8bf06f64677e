// Finds the library table (fields and functions) of a value, and lists the global modules.

import { native } from '../../values/value.ts'
import { BoundFunction, Doc, type Kind, kindOf, Module, type Value } from '../value.ts'
import { arrayMembers } from './array.ts'
import { arrayModule } from './array-module.ts'
import { userCollectionMembers } from './collection.ts'
import { dateMembers, dateModule } from './date.ts'
import { documentMembers } from './document.ts'
import { type LibraryEntry, type Members, members, membersOfModule } from './entry.ts'
import { fqlModule, globalFunctions, queryModule, schemaModule } from './globals.ts'
import { mathModule } from './math.ts'
import { documentTable, nativeOf, natives } from './natives.ts'
import { objectModule } from './object.ts'
import { eventSourceMembers, setMembers, setModule } from './set.ts'
import { bytesModule, idModule, smallTypes, transactionTimeModule } from './small-types.ts'
import { stringMembers } from './string.ts'
import { timeMembers, timeModule } from './time.ts'

/** Modules without members, which only name a type for `isa`. */
const typesOnly = [
  'Boolean',
  'Doc',
  'Double',
  'EventSource',
  'Float',
  'Int',
  'Long',
  'Null',
  'Number',
  'SetCursor',
  'String',
  'Struct',
  'UUID',
]

const moduleTables: readonly Members[] = [
  queryModule,
  mathModule,
  arrayModule,
  setModule,
  objectModule,
  timeModule,
  dateModule,
  bytesModule,
  idModule,
  transactionTimeModule,
  ...typesOnly.map(name => members(name, [])),
]

const modules = moduleTables.map(table => new Module(table.name, table))

/** All globals except the module `FQL`, whose members are these globals and the module `Schema`. */
const membersOfFql: ReadonlyMap<string, Module | BoundFunction> = new Map<string, Module | BoundFunction>([
  ...modules.map(module => [module.name, module] as const),
  ...natives.map(({ module }) => [module.name, module] as const),
  // `Credentials` is the former name of the module `Credential`.
  ['Credentials', nativeOf(native.credentials)?.module as Module],
  ...globalFunctions.map(definition => [definition.name, new BoundFunction(null, definition)] as const),
])

const fql = fqlModule(membersOfFql)

export const globals: ReadonlyMap<string, Module | BoundFunction> = new Map([
  ...membersOfFql,
  [fql.name, fql],
])

export const typeTables: Readonly<Partial<Record<Kind, Members>>> = {
  ...smallTypes,
  array: arrayMembers,
  date: dateMembers,
  'event source': eventSourceMembers,
  set: setMembers,
  string: stringMembers,
  time: timeMembers,
}

/** Tables whose examples need a database. */
export const dataTables: readonly Members[] = [
  schemaModule,
  ...natives.map(({ module }) => membersOfModule(module)),
  ...new Set(natives.map(({ documents }) => documents)),
  userCollectionMembers('<collection>'),
  documentMembers,
  smallTypes['user function'],
  setMembers,
  eventSourceMembers,
]

export const allTables: readonly Members[] = [
  ...moduleTables,
  membersOfModule(fql),
  members('globals', globalFunctions),
  ...new Set([...dataTables, ...Object.values(typeTables)]),
]

/** The table with the members of a value. Returns undefined for a value without members. */
function tableOf(value: Value): Members | undefined {
  if (value instanceof Doc) return documentTable(value)
  return value instanceof Module ? membersOfModule(value) : typeTables[kindOf(value)]
}

/** The query log uses this list to distinguish words of the language from client data. */
export const memberNames: ReadonlySet<string> = new Set(
  allTables.flatMap(({ entries }) => [...entries.keys()]),
)

export function memberOf(value: Value, name: string): LibraryEntry | undefined {
  return tableOf(value)?.entries.get(name)
}
