// Every endpoint of the service. To add one: a file in endpoints/ and a line here.

import type { Endpoint, Services } from './endpoint.ts'
import { accountKeyEndpoints } from './endpoints/account-keys.ts'
import { dashboardEndpoints } from './endpoints/dashboard.ts'
import { errorEndpoint } from './endpoints/error.ts'
import { healthEndpoints } from './endpoints/health.ts'
import { logViewEndpoints } from './endpoints/log-views.ts'
import { logEndpoints } from './endpoints/logs.ts'
import { newerProtocolEndpoints } from './endpoints/newer-protocol.ts'
import { pingEndpoint } from './endpoints/ping.ts'
import { principalEndpoint } from './endpoints/principal.ts'
import { engineEndpoints, queryEndpoint } from './endpoints/query.ts'
import { schemaEndpoints } from './endpoints/schema.ts'
import { streamEndpoints } from './endpoints/stream.ts'
import { transferEndpoints } from './endpoints/transfer.ts'
import { protocols } from './protocols.ts'
import { feedProtocol } from './version10-headers.ts'

/** The endpoints with a path of their own; the one for all other paths is wired in application.ts. */
export function endpoints(services: Services): readonly Endpoint[] {
  const { dashboard, operation, queryLog, transfer } = services
  return [
    ...(queryLog
      ? [
          ...logEndpoints(services, queryLog),
          ...logViewEndpoints(services, queryLog),
          ...accountKeyEndpoints(services, queryLog),
        ]
      : []),
    ...(operation ? healthEndpoints(services, operation) : []),
    ...(transfer ? transferEndpoints(services, transfer) : []),
    ...protocols.map(protocol => queryEndpoint(services, protocol)),
    ...(dashboard ? dashboardEndpoints(dashboard) : []),
    principalEndpoint(services),
    ...engineEndpoints(services),
    ...streamEndpoints(services),
    queryEndpoint(services, feedProtocol),
    pingEndpoint(services),
    errorEndpoint(services),
    ...schemaEndpoints(services),
    ...newerProtocolEndpoints(),
  ]
}
