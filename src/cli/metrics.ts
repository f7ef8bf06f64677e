// Where metrics are served: by the process itself, or by the supervisor for all workers together. What that takes is
// loaded where metrics are asked for.

import type { Logger } from 'pino'
import type { AggregatorRegistry, Registry } from 'prom-client'
import type { Config } from '../app/config/settings.ts'
import { reasonOf } from '../base/system-reasons.ts'
import type { MetricsServer } from '../server/metrics/endpoint.ts'
import { StartError } from './command.ts'

/** Serves metrics if a port for them is configured. */
export async function openMetrics(
  { metricsHost: host, metricsPort: port }: Config,
  log: Logger,
  collect: () => Promise<string>,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined
  const { serveMetrics } = await import('../server/metrics/endpoint.ts')
  try {
    const server = await serveMetrics({ host, port }, collect, log)
    log.info({ url: server.url }, `metrics are at ${server.url}`)
    return server
  } catch (cause) {
    throw new StartError(`cannot serve metrics on ${host}:${port}: ${reasonOf(cause)}`)
  }
}

/** In a worker: hands its metrics to the supervisor when that asks. */
export async function shareMetrics(registry: Registry): Promise<void> {
  const { AggregatorRegistry } = await import('prom-client')
  // Making one is what makes a worker listen for the question.
  new AggregatorRegistry()
  AggregatorRegistry.setRegistries(registry)
}

/** In the supervisor: the metrics of all workers, added up. */
export function metricsOfWorkers(): () => Promise<string> {
  let aggregator: AggregatorRegistry<typeof Registry.PROMETHEUS_CONTENT_TYPE> | undefined
  return async () => {
    aggregator ??= new (await import('prom-client')).AggregatorRegistry()
    return aggregator.clusterMetrics()
  }
}
