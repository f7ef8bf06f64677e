// The list of endpoints. To add an endpoint, add a file to endpoints/ and a line to the list.

import { type Answer, errorAnswer, internalErrorText, jsonAnswer } from './answer.ts'
import type { Endpoint, Services } from './endpoint.ts'
import { accountKeyEndpoints } from './endpoints/account-keys.ts'
import { dashboardEndpoints } from './endpoints/dashboard.ts'
import { environmentEndpoint } from './endpoints/environment.ts'
import { graphqlEndpoints } from './endpoints/graphql.ts'
import { healthEndpoints, pingEndpoint } from './endpoints/health.ts'
import { logViewEndpoints } from './endpoints/log-views.ts'
import { logEndpoints } from './endpoints/logs.ts'
import { engineEndpoints, principalEndpoint, queryEndpoint, streamEndpoints } from './endpoints/query.ts'
import { schemaEndpoints } from './endpoints/schema.ts'
import { transferEndpoints } from './endpoints/transfer.ts'
import type { Protocol } from './protocol.ts'
import { version4Protocol } from './request-headers.ts'
import { feedProtocol, version10Protocol } from './version10-headers.ts'

/** The protocols whose requests {@link queryEndpoint} handles. */
const protocols: readonly Protocol[] = [version4Protocol, version10Protocol, feedProtocol]

/** Returns the endpoints without the endpoint for unknown paths, which application.ts adds. */
export function endpoints(services: Services): readonly Endpoint[] {
  const { dashboard, operation, queryLog, transfer } = services
  return [
    ...(queryLog
      ? [logEndpoints, logViewEndpoints, accountKeyEndpoints].flatMap(of => of({ ...services, queryLog }))
      : []),
    ...(operation ? healthEndpoints(services, operation) : []),
    ...(transfer ? transferEndpoints(services, transfer) : []),
    ...protocols.map(protocol => queryEndpoint(services, protocol)),
    ...(dashboard ? dashboardEndpoints(dashboard) : []),
    principalEndpoint(services),
    ...engineEndpoints(services),
    ...streamEndpoints(services),
    pingEndpoint(services),
    errorEndpoint(services),
    ...schemaEndpoints(services),
    ...graphqlEndpoints(services),
    environmentEndpoint(services),
    ...unsupportedPaths.map(path => ({ path, methods: {}, otherMethods: unsupported })),
  ]
}

/**
 * `GET /error` always fails. Operators use it to check how failures are reported. It writes nothing to the service's
 * log, because any client can call it without a credential.
 */
function errorEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/error',
    methods: { GET: () => errorAnswer('internal server error', internalErrorText, engine.now()) },
  }
}

/** Paths of version 10 that are not implemented. All methods get the same 400. */
const unsupportedPaths = ['/export/1', '/export/1/*']

const unsupportedMessage =
  'This service does not have this path of version 10: queries go to /query/1, schema files to /schema/1.'

/** After this error code, clients of version 10 never retry. */
function unsupported(): Answer {
  return jsonAnswer(400, { error: { code: 'invalid_request', message: unsupportedMessage }, summary: '' })
}
