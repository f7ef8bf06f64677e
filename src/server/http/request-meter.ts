// Counts requests for the operator, in plain numbers that are read on demand.

import type { Answer } from './answer.ts'

/** Upper bounds of the classes in seconds. The last class has no upper bound. */
export const durationBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The highest status code of HTTP. */
export const statusMax = 599

export class RequestMeter {
  readonly statuses = new Float64Array(statusMax + 1)
  /** Responses in each class of duration; not cumulative. */
  readonly durations = new Float64Array(durationBounds.length + 1)
  durationSeconds = 0
  bytesIn = 0
  bytesOut = 0
  /** Answers with metrics, also of failed and rejected requests, that count no write operation. */
  reads = 0
  /** Answers with metrics that count write operations. */
  writes = 0
  readonly costs = { compute: 0, read: 0, write: 0 }
  /** Evaluations repeated because of a conflict with another transaction. */
  retries = 0
  storageBytesRead = 0
  storageBytesWritten = 0
  /** Number of queries that the slow lane has evaluated. */
  slowQueries = 0
  /** Queries of the slow lane whose writes were committed. */
  slowCommits = 0
  openStreams = 0
  /** Records of the query log that could not be written. */
  lostRecords = 0
  /** Number of requests in flight. The edge (edge.ts) replaces this function. */
  inFlight = (): number => 0

  /** Returns the number of responses with a status from `from` to `to`, inclusive. */
  responses(from: number, to: number): number {
    return this.statuses.subarray(from, to + 1).reduce((sum, count) => sum + count, 0)
  }

  /** `ms`: duration of the request. */
  answered(
    { isSlow, isSlowCommit, metrics, status }: Answer,
    bytesIn: number,
    bytesOut: number,
    ms: number,
  ): void {
    const seconds = ms / 1000
    this.statuses[status] = (this.statuses[status] as number) + 1
    let at = 0
    while (at < durationBounds.length && seconds > (durationBounds[at] as number)) at++
    this.durations[at] = (this.durations[at] as number) + 1
    this.durationSeconds += seconds
    this.bytesIn += bytesIn
    this.bytesOut += bytesOut
    if (isSlow) this.slowQueries++
    if (isSlowCommit) this.slowCommits++
    if (metrics === undefined) return
    if (metrics.byteWriteOps > 0) this.writes++
    else this.reads++
    this.costs.compute += metrics.computeOps
    this.costs.read += metrics.byteReadOps
    this.costs.write += metrics.byteWriteOps
    this.retries += metrics.txnRetries
    this.storageBytesRead += metrics.storageBytesRead
    this.storageBytesWritten += metrics.storageBytesWrite
  }
}
