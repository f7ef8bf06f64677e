// Connects to a database of a running service.

import { ResponseLimitError, responseText } from '../base/response-text.ts'
import { networkFailure } from '../base/system-reasons.ts'
import { wait } from '../base/timers.ts'
import { writeJson } from '../values/write-json.ts'
import type { DatabasePath, TransferConnection } from './connection.ts'
import { graphqlBody, messageOf, resourceOf, schemaBody, scopedSecret } from './connection-responses.ts'
import {
  missingRequestText,
  pageRequestText,
  readMissingResponse,
  readPageText,
  readSnapshotResponse,
  readWriteResponse,
  transferPaths,
  writeRequestText,
} from './messages.ts'
import { BadRecord, TransferError } from './record.ts'
import { schemaCall, schemaMethods } from './schema-methods.ts'

/** Sends a request to an endpoint of a service, in the database at `path`. */
type Post = (
  path: DatabasePath,
  endpoint: string,
  body: string,
  method?: string,
) => Promise<{ readonly status: number; readonly text: string }>

function remoteGraphql(
  base: string,
  post: Post,
): Pick<TransferConnection, 'graphqlSchema' | 'importGraphql'> {
  return {
    async graphqlSchema(path) {
      const { status, text } = await post(path, '/import', '', 'GET')
      // Older services have no GraphQL.
      return status === 404 ? '' : graphqlBody(base, status, text)
    },
    async importGraphql(path, sdl) {
      const { status, text } = await post(path, '/import', sdl)
      graphqlBody(base, status, text)
    },
  }
}

/**
 * Maximum number of attempts while the service is unavailable. A retry is safe: a record or schema object that the
 * first attempt has written does not change. The report may then show the object as failed, because it exists already.
 */
const attemptsMax = 6
const firstDelayMs = 200
const limitedDelayMs = 1000
/** Maximum number of documents in a request that checks which documents are missing. */
const missingDocumentsMax = 10_000

const tooLarge = 'too large for one request; it can be imported into a data directory that no service uses'
const tooLargeTogether =
  'its check needs other documents, and together they are too large for one request; they can be imported into a data directory that no service uses'

/** `url`: the address of the service without a path. */
export function remoteConnection(url: string, secret: string): TransferConnection {
  const base = url.replace(/\/+$/, '')
  const post = async (path: DatabasePath, endpoint: string, body: string | FormData, method = 'POST') => {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(base + endpoint, {
          method,
          headers: { authorization: `Bearer ${scopedSecret(secret, path)}`, 'x-faunadb-api-version': '4' },
          ...(method !== 'GET' && { body }),
        })
        const text = await responseText(response)
        if (response.status === 429) {
          // The database has exceeded its rate limit. The service is available, so this attempt does not count.
          attempt = 0
          await wait(limitedDelayMs)
          continue
        }
        if (response.status !== 503 || attempt === attemptsMax) return { status: response.status, text }
      } catch (cause) {
        if (cause instanceof ResponseLimitError)
          throw new TransferError(`${base} cannot be used: ${cause.message}`)
        const { isTemporary, reason } = networkFailure(cause)
        if (!isTemporary || attempt === attemptsMax)
          throw new TransferError(`${base} cannot be reached: ${reason}`, { cause })
      }
      await wait(firstDelayMs * 2 ** (attempt - 1))
    }
  }
  const transfer = async (path: DatabasePath, endpoint: string, body: string): Promise<string> => {
    const { status, text } = await post(path, endpoint, body)
    if (status < 300) return text
    throw responseError(path, status, text)
  }
  const responseError = (path: DatabasePath, status: number, text: string) =>
    status === 401 && path.length > 0
      ? new TransferError(
          `${base} has no database ${path.join('/')}, or the secret is not one of an admin (401)`,
        )
      : new TransferError(`${base} rejects the request: ${messageOf(status, text)}`)
  return {
    name: base,
    close: async () => undefined,
    async query(path, expression) {
      const { status, text } = await post(path, '/', writeJson(expression))
      return resourceOf(base, status, text)
    },
    ...schemaMethods(base, async (path, request) => {
      const { endpoint, form } = schemaCall(request)
      const { status, text } = await post(path, endpoint, form, request.method)
      return schemaBody(base, status, text)
    }),
    ...remoteGraphql(base, post),
    async write(path, records, options) {
      const body = writeRequestText(records, options)
      const { status, text } = await post(path, transferPaths.write, body)
      if (status === 413 && (records.length === 1 || options.checks === 'together')) {
        const reason = records.length === 1 ? tooLarge : tooLargeTogether
        return { outcomes: records.map(() => ({ kind: 'bad', reason })), missing: [], unresolved: [] }
      }
      if (status >= 300) throw responseError(path, status, text)
      return readOf(base, () => readWriteResponse(JSON.parse(text), records.length))
    },
    async missing(path, documents) {
      const missing: boolean[] = []
      for (let from = 0; from < documents.length; from += missingDocumentsMax) {
        const part = documents.slice(from, from + missingDocumentsMax)
        const text = await transfer(path, transferPaths.missing, missingRequestText(part))
        missing.push(...readOf(base, () => readMissingResponse(JSON.parse(text), part.length)))
      }
      return missing
    },
    async snapshot(path) {
      const text = await transfer(path, transferPaths.snapshot, '')
      return readOf(base, () => readSnapshotResponse(JSON.parse(text)))
    },
    async page(path, request) {
      const text = await transfer(path, transferPaths.page, pageRequestText(request))
      return readOf(base, () => readPageText(text))
    },
  }
}

/**
 * Reads a response with `work`. Throws {@link TransferError} if the service at `base` is another program, whose
 * responses can have any content.
 */
function readOf<T>(base: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof BadRecord || cause instanceof SyntaxError)) throw cause
    throw new TransferError(`${base} is not a Terrarium service of this version: ${cause.message}`)
  }
}
