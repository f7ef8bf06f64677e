// What a process of the service tells of itself, and what it hears from the others: those of its workers, and of all machines
// that share its store. It travels with the notices that they exchange anyway (base/notices.ts), and only while
// they are looked at.

import { freemem, totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Clock } from '../../base/clock.ts'
import type { NoticeBoard, NoticeTopic } from '../../base/notices.ts'
import type { ProcessReport, ReportParts } from './health.ts'

/** For so long, in milliseconds, processes go on telling after the last look. */
const tellMs = 20_000
/** What was last heard of a process counts for so long, in milliseconds. */
const heardMs = 10_000

interface News {
  /** The sender is looked at: others tell of themselves. */
  readonly wants?: true
  readonly report?: ProcessReport
}

interface ReportOptions {
  readonly node: string
  readonly worker: number
  readonly parts: () => ReportParts
  readonly clock: Clock
  /** Absent: there is one process. */
  readonly notices?: NoticeBoard | undefined
}

/** The reports of all processes. */
export class ProcessReports implements NoticeTopic {
  readonly #options: ReportOptions
  readonly #heard = new Map<string, { readonly report: ProcessReport; readonly atMs: number }>()
  #lookedMs = Number.NEGATIVE_INFINITY
  #wantedMs = Number.NEGATIVE_INFINITY

  constructor(options: ReportOptions) {
    this.#options = options
    options.notices?.join('reports', this)
  }

  /** This process, and the others as last heard; those that have not heard of the wish yet follow in a second or two. */
  all(): readonly ProcessReport[] {
    const nowMs = this.#options.clock.elapsedMs()
    this.#lookedMs = nowMs
    for (const [name, { atMs }] of this.#heard) if (nowMs - atMs > heardMs) this.#heard.delete(name)
    return [this.#own(), ...Array.from(this.#heard.values(), ({ report }) => report)]
  }

  collect(): News | undefined {
    const nowMs = this.#options.clock.elapsedMs()
    const isLooked = nowMs - this.#lookedMs < tellMs
    const isWanted = nowMs - this.#wantedMs < tellMs
    if (!isLooked && !isWanted) return undefined
    return { ...(isLooked && { wants: true }), ...(isWanted && { report: this.#own() }) }
  }

  receive(news: unknown): void {
    const { report, wants } = news as News
    const atMs = this.#options.clock.elapsedMs()
    if (wants) this.#wantedMs = atMs
    if (report) this.#heard.set(`${report.node} ${report.pid}`, { report, atMs })
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
