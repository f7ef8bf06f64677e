// A record of the query log as searches and charts read it. Segments of blocks contain stored records
// (stored-record.ts). Segments of Terrarium before 1.0 contain lines (log-lines.ts).

import type { LogFault, ParsedFacts } from './facts.ts'
import type { SearchText } from './search-text.ts'

/** A record. Valid until the next records of its segment are requested. */
export interface SegmentRecord {
  /** Milliseconds since the Unix epoch. */
  readonly time: number
  /** The ids of the database and its ancestors (ownership.ts). */
  readonly trail: string
  /** The region group that the service had when it wrote the record. */
  readonly regionGroup: string
  readonly status: number
  readonly queryTimeMs: number
  readonly readOps: number
  readonly writeOps: number
  readonly computeOps: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly retries: number
  readonly tags: Readonly<Record<string, string>> | undefined
  /** The shape of the query, with the names of schema objects if they are known. */
  readonly shape: string
  readonly fault: LogFault | undefined
  /** Returns undefined for damaged facts. */
  facts(): ParsedFacts | undefined
  /** Returns whether a text occurs in the exported record, the shape, the names of schema objects or the error. */
  contains(text: SearchText): boolean
  /** Returns the record in the format of exports, without a line break. */
  line(): string
}

/** Records of a part of a segment, valid until the next part is requested. `damaged`: the number of skipped records. */
export interface RecordGroup {
  readonly records: readonly SegmentRecord[]
  readonly damaged: number
}

export function operationsOf({
  computeOps,
  readOps,
  writeOps,
}: Pick<SegmentRecord, 'computeOps' | 'readOps' | 'writeOps'>): number {
  return computeOps + readOps + writeOps
}

/** True for the dashboard's own requests. Queries that users send with its shell have another tag. */
export function isOfDashboard({ tags }: Pick<SegmentRecord, 'tags'>): boolean {
  return tags?.source === 'dashboard'
}
