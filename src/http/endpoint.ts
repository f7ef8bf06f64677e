// The shape of an endpoint. A handler decodes, calls one function of a lower layer and hands back an answer; the
// edge checks headers before and writes headers after.

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Timers } from '../base/timers.ts'
import type { Engine } from '../engine/contract.ts'
import type { Operation } from '../operation/operation.ts'
import type { QueryLog } from '../query-log/query-log.ts'
import type { TransferService } from '../transfer/service.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall, EndpointTraits } from './call.ts'
import type { DashboardFiles } from './dashboard-files.ts'
import type { RequestMeter } from './request-meter.ts'

/** What an endpoint does with a request that has passed the edge. */
export type Handler = (call: EndpointCall) => Answer | Promise<Answer>

export interface Endpoint extends EndpointTraits {
  /** Handlers by method. Any other method is answered 405, which names these (HEAD is left out). */
  readonly methods: Readonly<Record<string, Handler>>
  /** Answers all other methods instead of 405. */
  readonly otherMethods?: Handler
}

/** What endpoints are built from. */
export interface Services {
  readonly engine: Engine
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  /** Absent: nothing is recorded and nothing exported. */
  readonly queryLog?: QueryLog
  /** Absent: nothing is imported or exported. */
  readonly transfer?: TransferService
  /** Absent: nothing is told of the service, and no backups and checks are started over HTTP. */
  readonly operation?: Operation
  /** Where clients reach the service, without a slash at the end; absent: the host that they asked. */
  readonly publicUrl?: string
  /** Absent: there is no dashboard, and browsers are answered like everybody. */
  readonly dashboard?: DashboardFiles
  /** Whether requests are recorded; true when absent. */
  readonly recordsQueries?: boolean
  /** Absent: nothing is counted. */
  readonly meter?: RequestMeter
  /** Why this machine cannot keep up with the store that it shares with others, when that is its own fault; absent: it has its own. */
  readonly ownFault?: () => string | undefined
  /** Aborted some time before the service stops, when no new client shall be sent to it; absent: it says nothing. */
  readonly notice?: AbortSignal
  /** Aborted when the service is asked to stop: whatever has no end of its own has to end then. */
  readonly stopping: AbortSignal
}
