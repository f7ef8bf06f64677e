// Connects to all databases in a data directory that no service uses. Queries have the same dialects as over HTTP, so the
// responses are the same.

import type { Engine, QueryRequest } from '../engine/engine-contract.ts'
import { type ApiVersion, defaultApiVersion } from '../fql4/wire/version.ts'
import { schemaOptions, schemaRequestText } from '../fql10/wire/schema-request.ts'
import { importOptions, schemaTextOptions } from '../graphql/wire/import-options.ts'
import type { DatabaseId } from '../values/value.ts'
import { writeJson } from '../values/write-json.ts'
import type { DatabasePath, TransferConnection } from './connection.ts'
import { graphqlBody, resourceOf, schemaBody, scopedSecret } from './connection-responses.ts'
import { TransferError } from './record.ts'
import { schemaMethods } from './schema-methods.ts'
import type { TransferService } from './service.ts'

/** An engine that has opened a data directory. */
interface LocalEngine {
  readonly engine: Engine
  readonly transfer: TransferService
  close(): Promise<void>
}

const queryTimeoutMs = 600_000

/** GraphQL requests have `defaultApiVersion` instead. */
const apiVersion: ApiVersion = '4'
/** Version 10 has no other dialect. */
const dialect10 = '10'

/** Uses an engine in this process. `secret`: the engine's root secret. */
export function localConnection(
  name: string,
  { close, engine, transfer }: LocalEngine,
  secret: string,
): TransferConnection {
  const databases = new Map<string, DatabaseId>()
  const databaseOf = async (path: DatabasePath): Promise<DatabaseId> => {
    const known = databases.get(path.join('/'))
    if (known !== undefined) return known
    const principal = await engine.whoIs(`Bearer ${scopedSecret(secret, path)}`, undefined)
    if (!principal) throw new TransferError(`there is no database ${path.join('/')} in ${name}`)
    databases.set(path.join('/'), principal.database)
    return principal.database
  }
  const send = (path: DatabasePath, request: Omit<QueryRequest, 'authorization' | 'timeoutMs'>) =>
    engine.query(
      { ...request, authorization: `Bearer ${scopedSecret(secret, path)}`, timeoutMs: queryTimeoutMs },
      undefined,
    )
  const graphql = async (path: DatabasePath, options: Readonly<Record<string, string>>, text?: string) => {
    const { body, status } = await send(path, {
      language: 'graphql',
      dialect: defaultApiVersion,
      options,
      body: text,
    })
    return graphqlBody(name, status, body)
  }
  return {
    name,
    close,
    async query(path, expression) {
      const { body, status } = await send(path, {
        language: '4',
        dialect: apiVersion,
        body: writeJson(expression),
      })
      return resourceOf(name, status, body)
    },
    ...schemaMethods(name, async (path, request) => {
      const { body, status } = await send(path, {
        language: '10',
        dialect: dialect10,
        options: schemaOptions,
        body: schemaRequestText(request),
      })
      return schemaBody(name, status, body)
    }),
    graphqlSchema: path => graphql(path, schemaTextOptions),
    async importGraphql(path, text) {
      await graphql(path, importOptions('merge'), text)
    },
    write: async (path, records, options) => transfer.write(await databaseOf(path), records, options),
    missing: async (path, documents) => transfer.missing(await databaseOf(path), documents),
    snapshot: async path => transfer.snapshot(await databaseOf(path)),
    page: async (path, request) => transfer.page(await databaseOf(path), request),
  }
}
