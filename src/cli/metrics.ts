// Serves the metrics of this process. With several worker processes, the supervisor serves those of all workers. Loads
// the libraries only when metrics are on.

import type { Logger } from 'pino'
import type { AggregatorRegistry, Registry } from 'prom-client'
import type { Config } from '../app/config/settings.ts'
import { reasonOf } from '../base/system-reasons.ts'
import type { MetricsServer } from '../server/metrics/endpoint.ts'
import { CommandError } from './command.ts'

/** Does nothing without a configured port. */
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
    throw new CommandError(`cannot serve metrics on ${host}:${port}: ${reasonOf(cause)}`)
  }
}

/** Sends the metrics of a worker to the supervisor on request. */
export async function shareMetrics(registry: Registry): Promise<void> {
  const { AggregatorRegistry } = await import('prom-client')
  // Creating a registry makes the worker listen for the request.
  new AggregatorRegistry()
  AggregatorRegistry.setRegistries(registry)
}

/** Sums the metrics of all workers in the supervisor, then adds those of the registry that `own` returns. */
export function metricsOfWorkers(own: () => Registry | undefined): () => Promise<string> {
  let aggregator: AggregatorRegistry<typeof Registry.PROMETHEUS_CONTENT_TYPE> | undefined
  return async () => {
    aggregator ??= new (await import('prom-client')).AggregatorRegistry()
    const ofWorkers = await aggregator.clusterMetrics()
    const ofSupervisor = await own()?.metrics()
    return ofSupervisor === undefined ? ofWorkers : `${ofWorkers}\n${ofSupervisor}`
  }
}
