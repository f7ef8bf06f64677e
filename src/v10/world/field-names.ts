// Names of fields that mean something for every document.

const reserved: ReadonlySet<string> = new Set([
  'id',
  'coll',
  'ts',
  'data',
  'delete',
  'update',
  'replace',
  'updateData',
  'replaceData',
  'exists',
])

/** Whether a stored data field of that name is reached through `data` only. */
export function isReservedField(name: string): boolean {
  return name === 'ttl' || reserved.has(name)
}

/** Whether no field of that name can be written, unless all names mean nothing. */
export function isRefusedField(name: string): boolean {
  return reserved.has(name)
}
