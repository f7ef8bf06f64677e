// A connection for the code of `terrarium import` and `terrarium rewind`, over the requests of the dashboard.

import { QueryError } from '../../../src/transfer/connection.ts'
import type { ImportConnection } from '../../../src/transfer/importer.ts'
import {
  missingRequestText,
  pageRequestText,
  readMissingResponse,
  readPageText,
  readWriteResponse,
  transferPaths,
  writeRequestText,
} from '../../../src/transfer/messages.ts'
import type { RewindConnection } from '../../../src/transfer/rewinder.ts'
import { schemaCall, schemaMethods } from '../../../src/transfer/schema-methods.ts'
import { databasePath } from '../router.ts'
import { session } from '../session.ts'
import { tryJson } from '../wire/json.ts'
import { callText, type RequestSecret, run, runText } from './client.ts'
import { errorOf, ServiceError } from './faults.ts'

/** Continues to use the current database when the user opens another page. */
export function transferConnection(
  as: RequestSecret,
  signal: AbortSignal,
): ImportConnection & RewindConnection {
  const send = (path: string, body: string) => withRetries(() => runText(body, as, signal, path), signal)
  const database = [...(session.value?.principal.database ?? []), ...databasePath.value].join('/')
  return {
    name: `${location.origin}/${database}`,
    query: async (_path, expression) => {
      try {
        return (await run(expression, as, signal)).value
      } catch (cause) {
        const fault = cause instanceof ServiceError && cause.status === 400 ? cause.faults[0] : undefined
        if (fault === undefined) throw cause
        const failures = fault.failures.map(({ field, description }) => `${field}: ${description}`)
        throw new QueryError(fault.code, [fault.description, ...failures].join(' '))
      }
    },
    write: async (_path, records, options) => {
      try {
        const { text } = await send(transferPaths.write, writeRequestText(records, options))
        return readWriteResponse(JSON.parse(text), records.length)
      } catch (cause) {
        // A batch with one document, or with documents that must be checked together, cannot be split, so these
        // documents are too large to import.
        const isWhole = records.length === 1 || options.checks === 'together'
        if (!(cause instanceof ServiceError) || cause.status !== 413 || !isWhole) throw cause
        const reason = 'too large for one request'
        return { outcomes: records.map(() => ({ kind: 'bad', reason })), missing: [], unresolved: [] }
      }
    },
    ...schemaMethods(location.origin, async (_path, request) => {
      const { endpoint, form } = schemaCall(request)
      const body = request.method === 'GET' ? undefined : form
      const { status, text } = await callText(request.method, endpoint, as, body, signal)
      if (status >= 300) throw errorOf(status, tryJson(text))
      return text
    }),
    graphqlSchema: async () => {
      const { status, text } = await callText('GET', '/import', as, undefined, signal)
      if (status >= 300) throw new ServiceError(status, text)
      return text
    },
    importGraphql: async (_path, sdl) => {
      const { status, text } = await callText('POST', '/import', as, sdl, signal)
      if (status === 400) throw new QueryError('invalid schema', text)
      if (status >= 300) throw new ServiceError(status, text)
    },
    missing: async (_path, documents) => {
      const { text } = await send(transferPaths.missing, missingRequestText(documents))
      return readMissingResponse(JSON.parse(text), documents.length)
    },
    page: async (_path, request) =>
      readPageText((await send(transferPaths.page, pageRequestText(request))).text),
  }
}

const attemptsMax = 6
const firstDelayMs = 200
const limitedDelayMs = 1000

/** Retries after temporary errors, without a limit after 429. Writes are idempotent, so a retry is safe. */
async function withRetries<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (cause) {
      const status = cause instanceof ServiceError ? cause.status : undefined
      if (status === 429) attempt = 0
      else if ((status !== 0 && status !== 503) || attempt >= attemptsMax) throw cause
      const delayMs = status === 429 ? limitedDelayMs : firstDelayMs * 2 ** (attempt - 1)
      await new Promise(resolve => setTimeout(resolve, delayMs))
      signal.throwIfAborted()
    }
  }
}
