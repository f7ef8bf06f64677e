// Names of fields. Readers of schema files ask nothing else, so this needs no library.

import { isKeyword } from '../syntax/reader.ts'

/** Names that every document has of its own. */
const documentNames: ReadonlySet<string> = new Set(
  'id coll ts ttl data delete update replace updateData replaceData exists'.split(' '),
)

/** Whether a stored data field of that name is reached through `data` only. */
export function isReservedField(name: string): boolean {
  return documentNames.has(name)
}

/** Whether no field of that name can be written, unless all names mean nothing. */
export function isRefusedField(name: string): boolean {
  return name !== 'ttl' && documentNames.has(name)
}

/** Whether a name is an identifier: in schema files it may stand without quotes, and be the name of a field. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !isKeyword(name)
}
