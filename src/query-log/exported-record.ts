// The format of exported records, as readers of the log receive them.

/** A parsed record in the export format. */
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

/** Returns whether the dashboard made the request: it sets a tag on its requests. */
export function isOfDashboard({ TAGS }: ExportedRecord): boolean {
  return TAGS?.source === 'dashboard'
}
