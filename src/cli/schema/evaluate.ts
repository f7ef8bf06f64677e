// What the objects in files come to, evaluated by the service: references, functions and times as it would store them, so
// that they can be compared with what it has.

import { FqlSyntaxError } from '../../fql4/text/index.ts'
import type { Json } from '../../values/value.ts'
import type { QueryConnection } from '../client/connection.ts'
import { SchemaFileError, type WrittenObject } from './folder.ts'
import { definingFields, type SchemaObject } from './kinds.ts'

/** The objects of files by what they define. Nothing is made. Throws {@link SchemaFileError}. */
export async function evaluateObjects(
  written: readonly WrittenObject[],
  connection: QueryConnection,
): Promise<readonly SchemaObject[]> {
  if (written.length === 0) return []
  const reply = await connection.query(written.map(({ params }) => params))
  if (reply.kind === 'errors') {
    const [error] = reply.errors
    const object = written[Number(error?.position[0] ?? 0)] as WrittenObject
    const { from, source } = object
    const place = source.at(error?.position.slice(1) ?? [])
    const mistake = new FqlSyntaxError(error?.description ?? '', from.text, place)
    throw new SchemaFileError(from, mistake, error?.code)
  }
  const values = reply.resource as readonly Json[]
  return written.map(({ kind, name }, index) => {
    // An object literal was evaluated.
    const fields = withoutTag(values[index] as ReadonlyMap<string, Json>)
    return { kind, name, fields: definingFields(kind, withoutNulls(fields)) }
  })
}

/** Objects with a key that begins with @ come wrapped. */
function withoutTag(fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const wrapped = fields.size === 1 ? fields.get('@obj') : undefined
  return wrapped instanceof Map ? wrapped : fields
}

/** A field of null is none. */
function withoutNulls(fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map([...fields].filter(([, value]) => value !== null))
}
