// The format of exported records, as clients receive them. Times have the format `2023-01-18 22:11:39.529 Z`: UTC,
// milliseconds, a blank instead of the `T` of ISO 8601.

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

export const timestampChars = 25

/** The first and the last millisecond that the format can express. */
export const timestampBounds = { min: -62_135_596_800_000, max: 253_402_300_799_999 } as const

/**
 * Creates a function that formats times in milliseconds since the Unix epoch, within {@link timestampBounds}. The
 * function is fast for consecutive times in the same second.
 */
export function createTimestampFormat(): (milliseconds: number) => string {
  let second = Number.NaN
  let prefix = ''
  return milliseconds => {
    const wanted = Math.floor(milliseconds / 1000)
    if (wanted !== second) {
      second = wanted
      prefix = `${new Date(wanted * 1000).toISOString().slice(0, 19).replace('T', ' ')}.`
    }
    const fraction = milliseconds - wanted * 1000
    return `${prefix}${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction} Z`
  }
}
