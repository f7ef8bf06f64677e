// Matches records against the conditions of a search.

import type { Micros } from '../values/value.ts'
import { type ExportedRecord, isOfDashboard } from './exported-record.ts'
import type { ParsedFacts } from './facts.ts'

/** Conditions for a record and its facts; undefined conditions are ignored. */
export interface RecordConditions {
  /** A status, or `2xx`, `4xx`, `5xx`. */
  readonly status?: string | undefined
  readonly slowerThanMs?: number | undefined
  /** Minimum total of read, write and compute operations, exclusive. */
  readonly opsAbove?: number | undefined
  /** True: only records with retries. False: only records without retries. */
  readonly isRetried?: boolean | undefined
  /** A tag, or a tag and its value: `source=dashboard`. */
  readonly tag?: string | undefined
  /** Excludes the dashboard's own requests. */
  readonly withoutDashboard?: boolean | undefined
  /** The code of an error. */
  readonly error?: string | undefined
  /** Names of schema objects. */
  readonly collection?: string | undefined
  readonly index?: string | undefined
  readonly function?: string | undefined
  readonly address?: string | undefined
  readonly lane?: 'ordinary' | 'slow' | undefined
  /** The shape of the query, names included. */
  readonly shape?: string | undefined
  /** Only requests whose writes were committed at one of these times. */
  readonly commitTimes?: ReadonlySet<Micros> | undefined
}

/** Returns whether a record meets its conditions. If it does not, the facts need not be parsed. */
export function matchesRecord(record: ExportedRecord, wish: RecordConditions): boolean {
  if (record.QUERY_TIME_MS < (wish.slowerThanMs ?? 0)) return false
  if (wish.status !== undefined && !hasStatus(record, wish.status)) return false
  if (wish.withoutDashboard && isOfDashboard(record)) return false
  if (wish.tag !== undefined && !hasTag(record, wish.tag)) return false
  if (wish.isRetried !== undefined && record.TXN_RETRIES > 0 !== wish.isRetried) return false
  return wish.opsAbove === undefined || operationsOf(record) > wish.opsAbove
}

/** Returns whether the facts of a record meet their conditions. */
export function matchesFacts(facts: ParsedFacts | undefined, shape: string, wish: RecordConditions): boolean {
  if (wish.shape !== undefined && (facts?.shape ?? shape) !== wish.shape) return false
  if (wish.error !== undefined && facts?.fault?.code !== wish.error) return false
  if (wish.address !== undefined && facts?.address !== wish.address) return false
  if (wish.commitTimes !== undefined && !hasCommitTime(facts, wish.commitTimes)) return false
  if (wish.lane !== undefined && facts?.isSlow !== (wish.lane === 'slow')) return false
  const kinds = ['collection', 'index', 'function'] as const
  return kinds.every(kind => {
    const name = wish[kind]
    return name === undefined || facts?.named.some(each => each.kind === kind && each.name === name) === true
  })
}

function hasCommitTime(facts: ParsedFacts | undefined, times: ReadonlySet<Micros>): boolean {
  return facts?.commitTime !== undefined && times.has(facts.commitTime)
}

function hasStatus({ RESPONSE_CODE }: ExportedRecord, status: string): boolean {
  return status.endsWith('xx') ? RESPONSE_CODE[0] === status[0] : RESPONSE_CODE === status
}

function hasTag({ TAGS }: ExportedRecord, tag: string): boolean {
  const [name = '', value] = tag.split('=', 2)
  const found = TAGS !== undefined && Object.hasOwn(TAGS, name) ? TAGS[name] : undefined
  return found !== undefined && (value === undefined || found === value)
}

function operationsOf(record: ExportedRecord): number {
  return record.BYTE_READ_OPS + record.BYTE_WRITE_OPS + record.COMPUTE_OPS
}
