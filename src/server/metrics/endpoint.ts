// `GET /metrics` on a separate port, because the public port serves only the protocol.

import { createServer, type ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { limits } from '../../base/limits.ts'
import { type ListenAddress, listenOn } from '../http/listener.ts'

/** A collector needs one connection. Without a limit, a faulty collector could use up all file descriptors. */
const connectionsMax = 32

export interface MetricsServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves the text that `collect` returns. Rejects when the address is not available. */
export async function serveMetrics(
  address: ListenAddress,
  collect: () => Promise<string>,
  log: Logger,
): Promise<MetricsServer> {
  // Collectors that read more seldom than every five seconds, Node's default, would open a connection for each read.
  const server = createServer({ keepAliveTimeout: limits.connectionIdleMs }, (request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (path !== '/metrics') end(response, 404, 'Metrics are at /metrics.\n')
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      end(response, 405, 'Only GET is allowed.\n')
    else {
      collect().then(
        text => end(response, 200, text, Registry.PROMETHEUS_CONTENT_TYPE),
        cause => {
          log.warn({ err: cause }, 'cannot collect the metrics')
          end(response, 503, 'The metrics could not be collected.\n')
        },
      )
    }
  })
  const port = await listenOn(server, address)
  server.maxConnections = connectionsMax
  const host = isIPv6(address.host) ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${port}/metrics`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function end(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': type })
  response.end(text)
}
