// The time format of exported records, `2023-01-18 22:11:39.529 Z`: UTC, milliseconds, a blank where ISO has `T`. As
// text such times sort like the instants they stand for, so filters compare bytes.

/** Characters of a time in a record. */
export const timestampChars = 25

/** The first and the last millisecond that the format can express. */
export const timestampBounds = { min: -62_135_596_800_000, max: 253_402_300_799_999 } as const

/** Writes a time, given in milliseconds since the Unix epoch and within {@link timestampBounds}. */
export function formatTimestamp(milliseconds: number): string {
  const iso = new Date(milliseconds).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)} Z`
}

/** A {@link formatTimestamp} for times that mostly lie in the same second as the one before. */
export function createTimestampFormat(): (milliseconds: number) => string {
  let second = Number.NaN
  let prefix = ''
  return milliseconds => {
    const wanted = Math.floor(milliseconds / 1000)
    if (wanted !== second) {
      second = wanted
      prefix = formatTimestamp(wanted * 1000).slice(0, 20)
    }
    const fraction = milliseconds - wanted * 1000
    return `${prefix}${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction} Z`
  }
}
