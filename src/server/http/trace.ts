// W3C trace context: continues the trace of a request's `traceparent` with a span of this service, or begins a new
// trace. An invalid value is ignored.

import type { Random } from '../../base/random.ts'

/** The trace and span of a request, in lower-case hexadecimal. */
export interface Trace {
  /** 32 digits, not all zero. */
  readonly traceId: string
  /** 16 digits: the span that this service adds. */
  readonly spanId: string
}

const headerChars = 55
const traceIdStart = 3
const traceIdEnd = 35
const spanIdStart = 36
const spanIdEnd = 52

/** Continues the trace in `header`, or begins a new one. */
export function traceOf(header: string | undefined, random: Random): Trace {
  if (header !== undefined && isTraceparent(header)) {
    return { traceId: header.slice(traceIdStart, traceIdEnd).toLowerCase(), spanId: random.hex(8) }
  }
  const both = random.hex(24)
  return { traceId: both.slice(0, 32), spanId: both.slice(32) }
}

/** The response's `traceparent`. */
export function traceparent(trace: Trace): string {
  return `00-${trace.traceId}-${trace.spanId}-00`
}

/** Checks everything but the version and the flags. */
function isTraceparent(header: string): boolean {
  return (
    header.length === headerChars &&
    header[traceIdStart - 1] === '-' &&
    header[traceIdEnd] === '-' &&
    header[spanIdEnd] === '-' &&
    isNonZeroHex(header, traceIdStart, traceIdEnd) &&
    isNonZeroHex(header, spanIdStart, spanIdEnd)
  )
}

function isNonZeroHex(text: string, start: number, end: number): boolean {
  let nonZero = false
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const digit = code >= 0x30 && code <= 0x39
    // Setting the bit 0x20 makes an ASCII letter lower case.
    const letter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x66
    if (!digit && !letter) return false
    if (code !== 0x30) nonZero = true
  }
  return nonZero
}
