// What collections, functions and their parts may be called.

import { globals } from '../library/tables.ts'
import { isKeyword } from '../syntax/reader.ts'
import { isPlainName, isReservedField } from './field-names.ts'

/** Names of types, and of words that the language keeps, beside those of its modules and functions. */
const reservedNames: ReadonlySet<string> = new Set([
  ...['FQL', '_', 'Any', 'Never', 'struct', 'interface', 'type', 'function', 'collection'],
  ...['Collection', 'Function', 'Role', 'Database', 'AccessProvider', 'Key', 'Token', 'Credential'],
  ...['Credentials', 'Set', 'Array', 'String', 'Int', 'Long', 'Double', 'Float', 'Number', 'Boolean'],
  ...['Bytes', 'Time', 'Date', 'UUID', 'ID', 'Object', 'Struct', 'Null', 'Doc', 'Math', 'Query'],
  ...[
    'TransactionTime',
    'EventSource',
    'SetCursor',
    'Ref',
    'EmptyRef',
    'NamedRef',
    'EmptyNamedRef',
    'Stream',
  ],
  ...['CollectionDef', 'FunctionDef', 'RoleDef', 'DatabaseDef', 'AccessProviderDef'],
  ...['NullCollectionDef', 'NullFunction', 'NullFunctionDef', 'NullRole', 'NullDatabase', 'NullKey'],
  ...['NullToken', 'NullCredential', 'NullAccessProvider'],
  ...['abort', 'log', 'dbg', 'asc', 'desc', 'newId'],
])

/** Names that every collection has of its own. */
const collectionNames: ReadonlySet<string> = new Set(
  'all byId create createAll createData definition firstWhere where toString'.split(' '),
)

/** Why a collection or a function may not be called so, whatever others are called; undefined: it may. */
export function nameFault(name: string): string | undefined {
  if (isKeyword(name) || reservedNames.has(name) || globals.has(name)) {
    return `The identifier \`${name}\` is reserved.`
  }
  return plainNameFault(name)
}

/** Why a part of a collection may not be called so; fields have other names taken than indexes. */
export function memberNameFault(name: string, part: 'field' | 'index'): string | undefined {
  if (!isPlainName(name) || name === '_') return 'Invalid identifier.'
  const isTaken = part === 'field' ? isReservedField(name) : collectionNames.has(name)
  return isTaken ? `The name '${name}' is reserved.` : undefined
}

/** Whether a name is no more than an identifier, for those that share no space with others. */
export function plainNameFault(name: string): string | undefined {
  return isPlainName(name) ? undefined : 'Invalid identifier.'
}
