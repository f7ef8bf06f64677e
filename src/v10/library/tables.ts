// Which table a value's fields and methods are in, and the modules that every query sees.

import { LocalDate, native, Time, TransactionTime, Uuid } from '../../values/value.ts'
import {
  BoundFunction,
  Doc,
  EventSource,
  Id,
  isArray,
  isNull,
  isNumber,
  Lambda,
  Module,
  SetCursor,
  SetValue,
  UserFunction,
  type Value,
} from '../value.ts'
import { arrayMembers } from './array.ts'
import { arrayModule } from './array-order.ts'
import { companionMembers } from './collection.ts'
import { dateMembers, dateModule } from './date.ts'
import { type Entry, type Members, members, membersOfModule } from './definition.ts'
import { documentMembers } from './document.ts'
import { eventSourceMembers } from './event-source.ts'
import { fqlModule, schemaModule } from './fql.ts'
import { globalFunctions } from './globals.ts'
import { mathModule } from './math.ts'
import { documentTable, nativeOf, natives } from './natives.ts'
import { objectModule } from './object.ts'
import { queryModule } from './query.ts'
import { setMembers, setModule } from './set.ts'
import {
  booleanMembers,
  bytesMembers,
  bytesModule,
  cursorMembers,
  functionMembers,
  idMembers,
  idModule,
  nullMembers,
  numberMembers,
  transactionTimeMembers,
  transactionTimeModule,
  userFunctionMembers,
  uuidMembers,
} from './small-types.ts'
import { stringMembers } from './string.ts'
import { timeMembers, timeModule } from './time.ts'

/** Modules that stand for a type on the right side of `isa` and have nothing in them. */
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

const tables: readonly Members[] = [
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

/** The modules of the library. */
const modules = tables.map(table => new Module(table.name, table))

const named: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...modules.map(module => [module.name, module] as const),
  ...natives.map(({ module }) => [module.name, module] as const),
  // The old name of the module.
  ['Credentials', nativeOf(native.credentials)?.module as Module],
  ...globalFunctions.map(definition => [definition.name, new BoundFunction(null, definition)] as const),
])

const fql = fqlModule(named)

/** What every query sees by name: modules and functions. */
export const globals: ReadonlyMap<string, Value> = new Map([...named, [fql.name, fql]])

/** The tables of what queries find in a database: their examples need one. */
export const dataTables: readonly Members[] = [
  schemaModule,
  ...natives.map(({ module }) => membersOfModule(module)),
  ...new Set(natives.map(({ documents }) => documents)),
  companionMembers('<collection>'),
  documentMembers,
  userFunctionMembers,
  setMembers,
  eventSourceMembers,
]

/** All tables: of modules, of types of values, and of what stands by itself. */
export const allTables: readonly Members[] = [
  ...tables,
  membersOfModule(fql),
  ...dataTables,
  members('globals', globalFunctions),
  arrayMembers,
  booleanMembers,
  bytesMembers,
  cursorMembers,
  dateMembers,
  functionMembers,
  idMembers,
  nullMembers,
  numberMembers,
  stringMembers,
  timeMembers,
  transactionTimeMembers,
  uuidMembers,
]

/** The table of a value's type, undefined where it has no members. */
function tableOf(value: Value): Members | undefined {
  if (typeof value === 'string') return stringMembers
  if (isNumber(value)) return numberMembers
  if (typeof value === 'boolean') return booleanMembers
  if (isNull(value)) return nullMembers
  if (isArray(value)) return arrayMembers
  if (value instanceof Module) return membersOfModule(value)
  return tableOfOther(value)
}

function tableOfOther(value: Value): Members | undefined {
  if (value instanceof Doc) return documentTable(value)
  if (value instanceof SetValue) return setMembers
  if (value instanceof Time) return timeMembers
  if (value instanceof LocalDate) return dateMembers
  if (value instanceof Id) return idMembers
  if (value instanceof Uint8Array) return bytesMembers
  if (value instanceof TransactionTime) return transactionTimeMembers
  if (value instanceof Uuid) return uuidMembers
  if (value instanceof SetCursor) return cursorMembers
  if (value instanceof EventSource) return eventSourceMembers
  if (value instanceof UserFunction) return userFunctionMembers
  return value instanceof Lambda || value instanceof BoundFunction ? functionMembers : undefined
}

/** The names of all members of the library, for those who have to tell them from names of users. */
export const memberNames: ReadonlySet<string> = new Set(
  allTables.flatMap(({ entries }) => [...entries.keys()]),
)

/** A member of a value by its name. */
export function memberOf(value: Value, name: string): Entry | undefined {
  return tableOf(value)?.entries.get(name)
}
