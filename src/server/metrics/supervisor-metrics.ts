// Metrics of the supervisor, the process that evaluates all writes of the workers. The names of these metrics have a
// separate prefix, so that sums over the metrics of the workers do not include the supervisor.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** The current figures of a supervisor. */
interface SupervisorFigures {
  /**
   * `operations`: number of operations that workers have forwarded. `in_flight`: number of these operations that have
   * no result yet.
   */
  readonly forwarded: { readonly operations: number; readonly in_flight: number }
  /** The load of the supervisor's slow lane; null without a slow lane. */
  readonly slowLane: { readonly processes: number; readonly running: number; readonly waiting: number } | null
}

const prefix = 'terrarium_supervisor_'

/** The metrics of a supervisor; `figures` returns its current figures. */
export function createSupervisorRegistry(figures: () => SupervisorFigures): Registry {
  const registry = new Registry()
  const gauge = (name: string, help: string, value: (of: SupervisorFigures) => number) => {
    const collect = function (this: Gauge) {
      this.set(value(figures()))
    }
    new Gauge({ name: `${prefix}${name}`, help, registers: [registry], collect })
  }
  new Counter({
    name: `${prefix}operations_total`,
    help: 'Operations that workers have forwarded.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(figures().forwarded.operations)
    },
  })
  gauge('operations_in_flight', 'Forwarded operations without a result.', of => of.forwarded.in_flight)
  gauge('slow_lane_processes', 'Processes of the slow lane.', of => of.slowLane?.processes ?? 0)
  gauge('slow_lane_running', 'Queries that the slow lane evaluates.', of => of.slowLane?.running ?? 0)
  gauge('slow_lane_waiting', 'Queries that wait for the slow lane.', of => of.slowLane?.waiting ?? 0)
  collectDefaultMetrics({ register: registry, prefix })
  return registry
}
