// Exports of query logs: `POST /api/v1/logs` requests an export, `GET /api/v1/logs/{id}` returns its state and its
// download URL, `POST /api/v1/logs/_list` lists exports. Requests and responses have the form of the hosted service's
// log API, because existing pipelines depend on it.

import type { ExportRequest } from '../../../query-log/export-request.ts'
import type { QueryLog } from '../../../query-log/query-log.ts'
import { filesPath } from '../../../query-log/signing.ts'
import { type Answer, jsonAnswer } from '../answer.ts'
import { ApiError, isoTime } from '../api.ts'
import type { Endpoint, EndpointCall, LogServices } from '../endpoint.ts'
import {
  checkType,
  forbiddenLogs,
  type LogClient,
  logAccess,
  logClient,
  logTraits,
  readListRequest,
} from '../log-request.ts'

export function logEndpoints(services: LogServices): readonly Endpoint[] {
  const logs = new LogHandlers(services)
  const endpoint = (path: string, rest: Omit<Endpoint, 'path'>): Endpoint => ({ ...logTraits, path, ...rest })
  return [
    endpoint('/api/v1/logs', { readsBody: true, methods: { POST: call => logs.request(call) } }),
    endpoint('/api/v1/logs/_list', { readsBody: true, methods: { POST: call => logs.list(call) } }),
    endpoint('/api/v1/logs/:id', { methods: { GET: call => logs.state(call) } }),
    endpoint(`${filesPath}:name`, { methods: { GET: call => logs.download(call) } }),
    endpoint('/api/*', { methods: {}, otherMethods: call => logs.notFound(call) }),
  ]
}

class LogHandlers {
  readonly #services: LogServices
  readonly #queryLog: QueryLog

  constructor(services: LogServices) {
    this.#services = services
    this.#queryLog = services.queryLog
  }

  async request(call: EndpointCall): Promise<Answer> {
    const { client, database, wanted } = await logAccess(call, this.#services)
    const { idempotencyToken: token, database: _, ...rest } = wanted
    const request = await this.#queryLog.requestExport(
      { ...rest, requester: client.requester, ...(database && { database }) },
      token === undefined ? undefined : { subject: client.subject, token },
    )
    // An idempotency token may find a request that another caller with more rights has made.
    if (!client.maySee(request)) throw forbiddenLogs()
    return jsonAnswer(200, this.#describe(request, call))
  }

  async state(call: EndpointCall): Promise<Answer> {
    rejectSigned(call)
    const client = await this.#client(call)
    checkType(call)
    const request = this.#queryLog.find(call.parameters.id as string)
    // Callers get the same error whether or not the export exists.
    if (!request || !client.maySee(request)) {
      throw new ApiError('not found', 'There is no log request with that id.')
    }
    return jsonAnswer(200, this.#describe(await this.#queryLog.withFreshUrl(request), call))
  }

  async list(call: EndpointCall): Promise<Answer> {
    const client = await this.#client(call)
    checkType(call)
    const { states, nextToken, maxResults } = readListRequest(call)
    const wanted = (request: ExportRequest) =>
      client.maySee(request) && (states === undefined || states.has(request.state))
    const page = this.#queryLog.page(nextToken, wanted, maxResults)
    if (!page)
      throw new ApiError('bad request', 'Bad request: "next_token" is not a token of an earlier page.')
    return jsonAnswer(200, {
      next_token: page.nextToken ?? null,
      results: page.requests.map(request => this.#describe(request, call)),
    })
  }

  /** Needs no credential, because the URL is signed. */
  async download(call: EndpointCall): Promise<Answer> {
    const name = call.parameters.name as string
    const expiry = this.#queryLog.expiryOf(name, call.request.url)
    if (expiry === undefined || expiry <= this.#queryLog.now()) throw badSignature()
    const file = await this.#queryLog.openFile(name)
    if (!file) throw new ApiError('not found', 'The file is not kept any more.')
    const { content, bytes } = file
    return {
      status: 200,
      body: content,
      contentType: 'application/gzip',
      headers: [
        ...['content-length', String(bytes)],
        ...['content-disposition', `attachment; filename="${name}"`],
        ...['cache-control', 'private, no-store'],
      ],
    }
  }

  notFound(call: EndpointCall): never {
    rejectSigned(call)
    throw new ApiError('not found', 'There is nothing at this address.')
  }

  #client(call: EndpointCall): Promise<LogClient> {
    return logClient(call, this.#services)
  }

  #describe(request: ExportRequest, call: EndpointCall): object {
    const { id, database, regionGroup, timeStart, timeEnd, state, url, version, updatedAt } = request
    return {
      request_id: id,
      ...(database && { database: database.path }),
      region_group: regionGroup,
      time_start: timeStart,
      time_end: timeEnd,
      state,
      ...(state === 'Complete' &&
        url && {
          presigned_url: this.#absolute(url.address, call),
          presigned_url_expiration_time: isoTime(url.expiresAt),
        }),
      version,
      updated_at: isoTime(updatedAt),
    }
  }

  /**
   * If `address` is only a path, this service serves the file. The URL then begins with the configured public URL, or
   * else with the origin that the client used.
   */
  #absolute(address: string, { request }: EndpointCall): string {
    if (!address.startsWith('/')) return address
    return (this.#services.publicUrl ?? request.origin) + address
  }
}

/** A changed path gets the same error as a changed signature. */
function rejectSigned({ request }: EndpointCall): void {
  if (request.url.includes('signature=')) throw badSignature()
}

function badSignature(): ApiError {
  return new ApiError('forbidden', 'The signature of this URL does not match, or it has expired.')
}
