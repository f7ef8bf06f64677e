// The processes of the service (the workers, and all machines that share a store) exchange reports about their state, but
// only while an operator views them.

import { freemem, totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Clock } from '../../base/clock.ts'
import type { NoticeBoard, NoticeTopic } from '../../base/notices.ts'
import type { ProcessReport, ReportParts } from './health.ts'

/** Milliseconds for which a process sends reports after the last request for them. */
const sendMs = 20_000
/** Milliseconds after which a received report is dropped. */
const validMs = 10_000

interface News {
  /** Set while the sender needs the reports of the other processes. */
  readonly wants?: true
  readonly report?: ProcessReport
}

interface ReportOptions {
  readonly node: string
  readonly worker: number
  /** Absent when there is only one process. */
  readonly notices?: NoticeBoard | undefined
  readonly parts: () => ReportParts
  readonly clock: Clock
}

/** Uses the existing notices between processes (base/notices.ts). */
export class ProcessReports implements NoticeTopic {
  readonly #options: ReportOptions
  readonly #received = new Map<string, { readonly report: ProcessReport; readonly atMs: number }>()
  #viewedMs = Number.NEGATIVE_INFINITY
  #wantedMs = Number.NEGATIVE_INFINITY

  constructor(options: ReportOptions) {
    this.#options = options
    options.notices?.join('reports', this)
  }

  /**
   * This process, and the last reports of the others. In the first seconds after an operator opens the view, some are
   * missing.
   */
  all(): readonly ProcessReport[] {
    const nowMs = this.#options.clock.elapsedMs()
    this.#viewedMs = nowMs
    for (const [name, { atMs }] of this.#received) if (nowMs - atMs > validMs) this.#received.delete(name)
    return [this.#own(), ...Array.from(this.#received.values(), ({ report }) => report)]
  }

  collect(): News | undefined {
    const nowMs = this.#options.clock.elapsedMs()
    const isViewed = nowMs - this.#viewedMs < sendMs
    const isWanted = nowMs - this.#wantedMs < sendMs
    if (!isViewed && !isWanted) return undefined
    return { ...(isViewed && { wants: true }), ...(isWanted && { report: this.#own() }) }
  }

  receive(news: unknown): void {
    const { report, wants } = news as News
    const atMs = this.#options.clock.elapsedMs()
    if (wants) this.#wantedMs = atMs
    if (report) this.#received.set(`${report.node} ${report.pid}`, { report, atMs })
  }

  #own(): ProcessReport {
    const { node, worker, parts } = this.#options
    const { active, idle } = performance.eventLoopUtilization()
    return {
      ...{ node, worker, pid: process.pid },
      memory_bytes: process.memoryUsage.rss(),
      machine_free_bytes: freemem(),
      machine_total_bytes: totalmem(),
      busy_ms: Math.round(active),
      idle_ms: Math.round(idle),
      ...parts(),
    }
  }
}
