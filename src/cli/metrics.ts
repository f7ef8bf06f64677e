// Where metrics are served: by the process itself, or by the supervisor for all workers together.

import type { Logger } from 'pino'
import { AggregatorRegistry, type Registry } from 'prom-client'
import type { Config } from '../config/settings.ts'
import { type MetricsServer, serveMetrics } from '../metrics/endpoint.ts'
import { StartError } from './command.ts'
import { reasonOf } from './data-folder.ts'

/** Serves metrics if a port for them is configured. */
export async function openMetrics(
  { metricsHost: host, metricsPort: port }: Config,
  log: Logger,
  collect: () => Promise<string>,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined
  try {
    const server = await serveMetrics({ host, port }, collect, log)
    log.info({ url: server.url }, `metrics are at ${server.url}`)
    return server
  } catch (cause) {
    throw new StartError(`cannot serve metrics on ${host}:${port}: ${reasonOf(cause)}`)
  }
}

/** In a worker: hands its metrics to the supervisor when that asks. */
export function shareMetrics(registry: Registry): void {
  // Making one is what makes a worker listen for the question.
  new AggregatorRegistry()
  AggregatorRegistry.setRegistries(registry)
}

/** In the supervisor: the metrics of all workers, added up. */
export function metricsOfWorkers(): () => Promise<string> {
  const aggregator = new AggregatorRegistry()
  return () => aggregator.clusterMetrics()
}
