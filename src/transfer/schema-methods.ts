// Reads and pushes schema files through requests to the endpoints of schemas.

import type { SchemaRequest } from '../fql10/wire/schema-request.ts'
import type { DatabasePath, SchemaFileText, TransferConnection } from './connection.ts'
import { TransferError } from './record.ts'
import { SchemaResponse } from './schema-response.ts'

/** Maximum number of UTF-16 code units in the schema files of a database. A push is much smaller. */
const schemaUnitsMax = 67_108_864

/**
 * `get` sends a GET request for a path below `/schema/1/` and resolves with the response. Throws {@link TransferError}
 * for a response of another program.
 */
export async function schemaFilesOf(
  get: (steps: readonly string[]) => Promise<SchemaResponse>,
): Promise<readonly SchemaFileText[]> {
  const found: SchemaFileText[] = []
  let units = 0
  for (const file of (await get(['files'])).objects('files')) {
    const name = file.text('filename')
    const text = (await get(['files', name])).text('content')
    units += name.length + text.length
    if (units > schemaUnitsMax)
      throw new TransferError(`the schema files have more than ${schemaUnitsMax} characters`)
    found.push({ name, text })
  }
  return found
}

export function schemaCall({ files, parameters, path }: SchemaRequest): {
  readonly endpoint: string
  readonly form: FormData
} {
  const form = new FormData()
  for (const { name, text } of files) form.append(name, new Blob([text]))
  const query = new URLSearchParams(parameters).toString()
  return { endpoint: `/schema/1/${path.map(encodeURIComponent).join('/')}${query && `?${query}`}`, form }
}

/** `send` resolves with the body of the response. */
export function schemaMethods(
  service: string,
  send: (path: DatabasePath, request: SchemaRequest) => Promise<string>,
): Pick<TransferConnection, 'schemaFiles' | 'isSchemaStaged' | 'pushSchema'> {
  const get = async (path: DatabasePath, steps: readonly string[]) =>
    SchemaResponse.of(
      service,
      await send(path, { method: 'GET', path: steps, parameters: {}, files: [], text: '' }),
    )
  return {
    schemaFiles: path => schemaFilesOf(steps => get(path, steps)),
    async isSchemaStaged(path) {
      return (await get(path, ['status'])).text('status') !== 'none'
    },
    async pushSchema(path, files, dryRun) {
      // With `force`, the request need not name the version of the schema.
      const parameters = { override: 'false', force: 'true' }
      const step = dryRun ? 'validate' : 'update'
      await send(path, { method: 'POST', path: [step], parameters, files, text: '' })
    },
  }
}
