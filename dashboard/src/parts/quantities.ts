// Formats amounts for people.

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** Bytes of a megabyte, as in the settings of the service. */
export const megabyte = 1_048_576

/** Returns a text with about three digits, such as `61.4 KB`. Each unit is 1024 times the previous one. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${units[power]}`
}

/** Returns a text such as `1 document` or `5 documents`. */
export function documentsText(count: number): string {
  return `${count} ${count === 1 ? 'document' : 'documents'}`
}

/** A fraction, 0 to 1, as `12 %`. */
export function percentText(share: number): string {
  return `${Math.round(share * 100)} %`
}

const minuteMs = 60_000
const hourMs = 3_600_000

/** Returns a text such as `40 s left`, `12 min left` or `3.5 h left`. */
export function timeLeftText(ms: number): string {
  if (ms < minuteMs) return `${Math.ceil(ms / 1000)} s left`
  if (ms < hourMs) return `${Math.ceil(ms / minuteMs)} min left`
  return `${(ms / hourMs).toFixed(1)} h left`
}

/** Returns a text such as `0.3`, `12` or `1,200`. */
export function rateText(perSecond: number): string {
  return new Intl.NumberFormat('en', { maximumFractionDigits: perSecond < 10 ? 1 : 0 }).format(perSecond)
}
