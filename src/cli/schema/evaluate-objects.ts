// Evaluates the schema objects in files of version 4.

import { FqlSyntaxError } from '../../fql4/text/index.ts'
import type { Json } from '../../values/value.ts'
import type { QueryConnection } from '../client/connection.ts'
import { type FileObject, SchemaFileError } from './folder.ts'
import { definingFields, type SchemaObject } from './kinds.ts'

/**
 * Returns the defining fields of the objects in files. The service evaluates the expressions in the files, but creates
 * nothing. Throws {@link SchemaFileError} if an expression fails.
 */
export async function evaluateObjects(
  written: readonly FileObject[],
  connection: QueryConnection,
): Promise<readonly SchemaObject[]> {
  if (written.length === 0) return []
  const reply = await connection.query(written.map(({ params }) => params))
  if (reply.kind === 'errors') {
    const [error] = reply.errors
    const object = written[Number(error?.position[0] ?? 0)] as FileObject
    const { from, source } = object
    const range = source.at(error?.position.slice(1) ?? [])
    const mistake = new FqlSyntaxError(error?.description ?? '', from.text, range)
    throw new SchemaFileError(from, mistake, error?.code)
  }
  const values = reply.resource as readonly Json[]
  return written.map(({ kind, name }, index) => {
    // Every value is an object, because every query was an object literal.
    const fields = withoutTag(values[index] as ReadonlyMap<string, Json>)
    return { kind, name, fields: definingFields(kind, withoutNulls(fields)) }
  })
}

/** The wire format wraps an object in `@obj` if one of its keys begins with @. */
function withoutTag(fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const wrapped = fields.size === 1 ? fields.get('@obj') : undefined
  return wrapped instanceof Map ? wrapped : fields
}

/** A null field is an absent field. */
function withoutNulls(fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map([...fields].filter(([, value]) => value !== null))
}
