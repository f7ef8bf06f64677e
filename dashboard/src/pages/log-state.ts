// What the page of the log shows is in its address, all of it: the span, what single requests are filtered by, whether the
// dashboard's own requests are there, too. Charts, lists and fields read it from there, so that they show the same.

import { addressWith, go, place } from '../router.ts'
import type { RecordFilter, Span } from '../service/logs.ts'

const minute = 60_000
const hour = 60 * minute

/** Spans that end now: name in the address, text, milliseconds. */
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
/** Longer spans are refused by the service. */
const spanMaxMs = 90 * 24 * hour

/** What the address says of the span, as one text. */
export function spanKey(): string {
  return ['from', 'to', 'last'].map(name => place.value.parameters.get(name)).join()
}

/** The name of a span that ends now; undefined when the address names its ends. */
export function lastName(): string | undefined {
  const { parameters } = place.value
  if (parameters.has('from') && parameters.has('to')) return undefined
  const name = parameters.get('last')
  return spans.some(([known]) => known === name) ? (name as string) : spanDefault
}

/** The span that the address names; without one the last hour. */
export function spanNow(): Span {
  const { parameters } = place.value
  const name = lastName()
  if (name === undefined) return { from: parameters.get('from') ?? '', to: parameters.get('to') ?? '' }
  const length = spans.find(([known]) => known === name)?.[2] ?? hour
  const now = Math.ceil(Date.now() / minute) * minute
  return { from: new Date(now - length).toISOString(), to: new Date(now).toISOString() }
}

/** Why the ends of a span (ISO 8601) are none that can be shown; undefined when they are. */
export function spanFault(from: string, to: string): string | undefined {
  const length = Date.parse(to) - Date.parse(from)
  if (!(length > 0)) return 'The end has to be after the beginning.'
  return length > spanMaxMs ? 'Choose 90 days at most.' : undefined
}

/** Shows a span that ends now. */
export function showLast(name: string): void {
  go(addressWith({ from: undefined, to: undefined, last: name }))
}

/** Shows the span between two instants (ISO 8601). */
export function showSpan(from: string, to: string): void {
  go(addressWith({ last: undefined, from, to }))
}

/** Shows the whole minutes that two moments (milliseconds since the Unix epoch) touch. */
export function zoomTo(from: number, to: number): void {
  const whole = (ms: number) => new Date(ms).toISOString()
  showSpan(whole(Math.floor(from / minute) * minute), whole(Math.ceil(to / minute) * minute))
}

/** Whether the dashboard's own requests are shown. */
export function isWithDashboard(): boolean {
  return place.value.parameters.get('dashboard') === '1'
}

/** Shows or hides them. */
export function showDashboard(isShown: boolean): void {
  go(addressWith({ dashboard: isShown ? '1' : undefined }), 'replace')
}

/** The parts of a filter, in the order of the form. */
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

/** The filter of single requests in the address. */
export function filterNow(): RecordFilter {
  const { parameters } = place.value
  return Object.fromEntries(
    filterNames.flatMap(name => {
      const value = parameters.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    }),
  )
}

/** Shows the requests that a filter finds, and no others. */
export function showRequests(filter: RecordFilter): void {
  const all = Object.fromEntries(filterNames.map(name => [name, filter[name]?.trim() || undefined]))
  go(addressWith(all), 'replace')
}
