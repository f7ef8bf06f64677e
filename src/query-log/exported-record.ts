// A record in the format of exports, as readers of the log get it.

/** A record in the exported format, as it was written. */
export interface ExportedRecord {
  readonly DATABASE: readonly string[]
  readonly FQL_SHAPE: string
  readonly RESPONSE_CODE: string
  readonly QUERY_TIME_MS: number
  readonly BYTE_READ_OPS: number
  readonly BYTE_WRITE_OPS: number
  readonly COMPUTE_OPS: number
  readonly BYTES_IN: number
  readonly BYTES_OUT: number
  readonly REGION_GROUP: string
  readonly TAGS: Readonly<Record<string, string>>
  readonly TS: string
  readonly TXN_RETRIES: number
}

/** Whether the dashboard has made a request itself: it marks those by a tag. */
export function isOfDashboard({ TAGS }: ExportedRecord): boolean {
  return TAGS?.source === 'dashboard'
}
