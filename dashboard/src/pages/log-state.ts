// The state of the Logs page, which its address contains: the span, the filter of requests, and whether the dashboard's
// own requests are included. Charts, lists and fields read the address, so that all show the same requests.

import { address, addressWith, go } from '../router.ts'
import type { RecordFilter, Span } from '../service/logs.ts'

const minute = 60_000
const hour = 60 * minute

/** Spans that end now: name in the address, label, milliseconds. */
export const spans = [
  ['15m', 'last 15 minutes', hour / 4],
  ['1h', 'last hour', hour],
  ['6h', 'last 6 hours', 6 * hour],
  ['1d', 'last day', 24 * hour],
  ['7d', 'last 7 days', 7 * 24 * hour],
  ['30d', 'last 30 days', 30 * 24 * hour],
  ['90d', 'last 90 days', 90 * 24 * hour],
] as const

const spanDefault = '1h'
/** The service rejects longer spans. */
const spanMaxMs = 90 * 24 * hour

/** Returns the parameters of the span as one text. */
export function spanKey(): string {
  return ['from', 'to', 'last'].map(name => address.value.parameters.get(name)).join()
}

/** The name of the span that ends now. Returns undefined when the address contains a start and an end. */
export function spanName(): string | undefined {
  const { parameters } = address.value
  if (parameters.has('from') && parameters.has('to')) return undefined
  const name = parameters.get('last')
  return spans.some(([known]) => known === name) ? (name as string) : spanDefault
}

/** Returns the last hour if the address has no span. */
export function spanNow(): Span {
  const { parameters } = address.value
  const name = spanName()
  if (name === undefined) return { from: parameters.get('from') ?? '', to: parameters.get('to') ?? '' }
  const length = spans.find(([known]) => known === name)?.[2] ?? hour
  // The end of the current minute, so that the span contains all requests until now.
  const now = Math.ceil(Date.now() / minute) * minute
  return { from: new Date(now - length).toISOString(), to: new Date(now).toISOString() }
}

/** Returns undefined for a valid span (ISO 8601). */
export function spanFault(from: string, to: string): string | undefined {
  const length = Date.parse(to) - Date.parse(from)
  if (!(length > 0)) return 'The end must be after the start.'
  return length > spanMaxMs ? 'A period can have at most 90 days.' : undefined
}

/** Shows a span that ends now. */
export function showLast(name: string): void {
  go(addressWith({ from: undefined, to: undefined, last: name }))
}

/** `from`, `to`: times in ISO 8601. */
export function showSpan(from: string, to: string): void {
  go(addressWith({ last: undefined, from, to }))
}

/** Shows a span, in milliseconds since the Unix epoch, extended to whole minutes. */
export function zoomTo(from: number, to: number): void {
  const isoTime = (ms: number) => new Date(ms).toISOString()
  showSpan(isoTime(Math.floor(from / minute) * minute), isoTime(Math.ceil(to / minute) * minute))
}

/** Returns whether charts and lists include the dashboard's own requests. */
export function includesDashboardRequests(): boolean {
  return address.value.parameters.get('dashboard') === '1'
}

export function showDashboardRequests(isShown: boolean): void {
  go(addressWith({ dashboard: isShown ? '1' : undefined }), 'replace')
}

/** Filters in the order of the form. */
const filterNames = [
  'text',
  'status',
  'error',
  'collection',
  'who',
  'tag',
  'slower',
  'index',
  'function',
  'address',
  'lane',
  'costlier',
  'retried',
  'shape',
] as const satisfies readonly (keyof RecordFilter)[]

export function filterNow(): RecordFilter {
  const { parameters } = address.value
  return Object.fromEntries(
    filterNames.flatMap(name => {
      const value = parameters.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    }),
  )
}

export function showRequests(filter: RecordFilter): void {
  const all = Object.fromEntries(filterNames.map(name => [name, filter[name]?.trim() || undefined]))
  go(addressWith(all), 'replace')
}
