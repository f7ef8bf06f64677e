// The export of query logs: `POST /api/v1/logs` requests one, `GET /api/v1/logs/{id}` tells how far it is and where
// it can be fetched, `POST /api/v1/logs/_list` lists them. Forms of requests and responses are facts of the hosted
// service's log API, for which pipelines were written.

import { limits } from '../../limits.ts'
import type { ExportRequest } from '../../query-log/export-request.ts'
import type { QueryLog } from '../../query-log/query-log.ts'
import { filesPath } from '../../query-log/signing.ts'
import type { Answer } from '../answer.ts'
import type { EndpointCall } from '../call.ts'
import type { Endpoint, Services } from '../endpoint.ts'
import { type LogClient, logClient } from '../log-access.ts'
import { allowedDatabase, notAllowed } from '../log-database.ts'
import { bodyOf, checkType, readListRequest, readLogRequest } from '../log-request.ts'
import { edgeErrorBody, isoTime, jsonAnswer, MessageError, refusing } from '../message-answer.ts'

const apiEndpoint = {
  authenticated: false,
  bodyBytesMax: limits.logBodyBytesMax,
  errorBody: edgeErrorBody,
} as const

/** The endpoints of the query log. */
export function logEndpoints(services: Services, queryLog: QueryLog): readonly Endpoint[] {
  const logs = new LogHandlers(services, queryLog)
  return [
    {
      ...apiEndpoint,
      path: '/api/v1/logs',
      readsBody: true,
      methods: { POST: call => refusing(() => logs.request(call)) },
    },
    {
      ...apiEndpoint,
      path: '/api/v1/logs/_list',
      readsBody: true,
      methods: { POST: call => refusing(() => logs.list(call)) },
    },
    { ...apiEndpoint, path: '/api/v1/logs/:id', methods: { GET: call => refusing(() => logs.look(call)) } },
    {
      ...apiEndpoint,
      path: `${filesPath}:name`,
      methods: { GET: call => refusing(() => logs.download(call)) },
    },
    {
      ...apiEndpoint,
      path: '/api/*',
      methods: {},
      otherMethods: call => refusing(() => logs.notFound(call)),
    },
  ]
}

class LogHandlers {
  readonly #services: Services
  readonly #queryLog: QueryLog

  constructor(services: Services, queryLog: QueryLog) {
    this.#services = services
    this.#queryLog = queryLog
  }

  async request(call: EndpointCall): Promise<Answer> {
    const client = await this.#client(call)
    checkType(call)
    const wanted = readLogRequest(bodyOf(call), this.#queryLog.regionGroup)
    const { idempotencyToken: token, database: _, ...rest } = wanted
    const database = allowedDatabase(wanted, client, this.#services, this.#queryLog)
    const request = await this.#queryLog.requestExport(
      { ...rest, requester: client.requester, ...(database && { database }) },
      token === undefined ? undefined : { subject: client.subject, token },
    )
    // A token may lead to a request that was made with more rights.
    if (!client.maySee(request)) throw notAllowed()
    return jsonAnswer(200, this.#describe(request, call))
  }

  async look(call: EndpointCall): Promise<Answer> {
    refuseSigned(call)
    const client = await this.#client(call)
    checkType(call)
    const request = this.#queryLog.find(call.parameters.id as string)
    // Whether others have asked for exports is nothing that a client learns.
    if (!request || !client.maySee(request)) {
      throw new MessageError('not found', 'There is no log request with that id.')
    }
    return jsonAnswer(200, this.#describe(await this.#queryLog.look(request), call))
  }

  async list(call: EndpointCall): Promise<Answer> {
    const client = await this.#client(call)
    checkType(call)
    const { states, nextToken, maxResults } = readListRequest(call)
    const wanted = (request: ExportRequest) =>
      client.maySee(request) && (states === undefined || states.has(request.state))
    const page = this.#queryLog.page(nextToken, wanted, maxResults)
    if (!page) throw new MessageError('bad request', 'Bad request: "next_token" is none that was given out.')
    return jsonAnswer(200, {
      next_token: page.nextToken ?? null,
      results: page.requests.map(request => this.#describe(request, call)),
    })
  }

  /** Needs no credential: the signature is one. */
  async download(call: EndpointCall): Promise<Answer> {
    const name = call.parameters.name as string
    const expiry = this.#queryLog.expiryOf(name, call.request.url)
    if (expiry === undefined || expiry <= this.#queryLog.now()) throw badSignature()
    const file = await this.#queryLog.openFile(name)
    if (!file) throw new MessageError('not found', 'The file is not kept any more.')
    const { content, bytes } = file
    return {
      status: 200,
      body: content,
      txnTime: undefined,
      metrics: undefined,
      contentType: 'application/gzip',
      headers: [
        ...['content-length', String(bytes)],
        ...['content-disposition', `attachment; filename="${name}"`],
        ...['cache-control', 'private, no-store'],
      ],
    }
  }

  async notFound(call: EndpointCall): Promise<Answer> {
    refuseSigned(call)
    throw new MessageError('not found', 'There is nothing at this address.')
  }

  #client(call: EndpointCall): Promise<LogClient> {
    return logClient(call, this.#services, this.#queryLog)
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

  /** Files on the local disk are fetched from where the client reached the service. */
  #absolute(address: string, { request }: EndpointCall): string {
    if (!address.startsWith('/')) return address
    return (this.#services.publicUrl ?? request.origin) + address
  }
}

/** A download URL with a changed character in its path is refused like one with a changed signature. */
function refuseSigned({ request }: EndpointCall): void {
  if (request.url.includes('signature=')) throw badSignature()
}

function badSignature(): MessageError {
  return new MessageError('forbidden', 'The signature of this URL does not match, or it has expired.')
}
