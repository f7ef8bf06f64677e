// Rules for field names. This file does not import the function library (`../library`), because parsers of schema files
// need only these rules.

import { isKeyword } from '../syntax/reader.ts'

/** The names of the fields and methods that every document has. */
const documentNames: ReadonlySet<string> = new Set(
  'id coll ts ttl data delete update replace updateData replaceData exists'.split(' '),
)

/** True if a data field with this name is accessible only through `data`. */
export function isReservedField(name: string): boolean {
  return documentNames.has(name)
}

/** `create`, `update` and `replace` reject these fields. `createData`, `updateData` and `replaceData` accept them. */
export function isRejectedField(name: string): boolean {
  return name !== 'ttl' && documentNames.has(name)
}

/** True for an identifier, which needs no quotes in schema files. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !isKeyword(name)
}
