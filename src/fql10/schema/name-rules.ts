// Rules for the names of collections, functions, fields and indexes.

import { globals } from '../library/tables.ts'
import { isKeyword } from '../syntax/reader.ts'
import { isPlainName, isReservedField } from './field-names.ts'

/** The names of the language's modules and functions (`globals`) are also reserved. */
const reservedNames: ReadonlySet<string> = new Set([
  ...['_', 'Any', 'Never', 'struct', 'interface', 'type', 'function', 'collection'],
  ...['Ref', 'EmptyRef', 'NamedRef', 'EmptyNamedRef', 'Stream'],
  ...['CollectionDef', 'FunctionDef', 'RoleDef', 'DatabaseDef', 'AccessProviderDef'],
  ...['NullCollectionDef', 'NullFunction', 'NullFunctionDef', 'NullRole', 'NullDatabase', 'NullKey'],
  ...['NullToken', 'NullCredential', 'NullAccessProvider'],
])

/** Names of fields and methods that every collection has. */
const collectionNames: ReadonlySet<string> = new Set(
  'all byId create createAll createData definition firstWhere where toString'.split(' '),
)

/** Returns undefined for a valid name, even if the name is already in use. */
export function nameFault(name: string): string | undefined {
  if (isKeyword(name) || reservedNames.has(name) || globals.has(name)) {
    return `The identifier \`${name}\` is reserved.`
  }
  return plainNameFault(name)
}

export function memberNameFault(name: string, part: 'field' | 'index'): string | undefined {
  if (!isPlainName(name) || name === '_') return 'Invalid identifier.'
  const isTaken = part === 'field' ? isReservedField(name) : collectionNames.has(name)
  return isTaken ? `The name '${name}' is reserved.` : undefined
}

export function plainNameFault(name: string): string | undefined {
  return isPlainName(name) ? undefined : 'Invalid identifier.'
}
