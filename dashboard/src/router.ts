// Addresses: every page has one under `/dashboard/`, kept in the browser's history. The database looked at and the time
// looked at are parameters, so that they go along from page to page.

import { computed, signal } from '@preact/signals'

const base = '/dashboard/'

/** An address below `/dashboard/`. */
interface Address {
  /** Decoded steps of the path. */
  readonly path: readonly string[]
  readonly parameters: URLSearchParams
}

function readAddress(url: Location | URL): Address {
  const steps = url.pathname
    .slice(base.length)
    .split('/')
    .filter(step => step !== '')
  return { path: steps.map(decoded), parameters: new URLSearchParams(url.search) }
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Where the browser is. */
export const place = signal<Address>(readAddress(location))

/** Names of the database that is signed in to, from the outermost one down. */
export const home = signal<readonly string[]>([])

/** The database that the address names, from the outermost one down, so that a link means the same to everybody. */
const writtenDatabase = computed<readonly string[] | undefined>(() => {
  const written = place.value.parameters.get('db')
  return written === null || written === '' ? undefined : written.split('/')
})

/** The database that the address names when it does not lie in the one that is signed in to; undefined otherwise. */
export const foreignDatabase = computed<readonly string[] | undefined>(() => {
  const written = writtenDatabase.value
  return written && home.value.some((name, level) => written[level] !== name) ? written : undefined
})

/** Names of the database looked at, from the signed-in one down; empty for that itself. */
export const databasePath = computed<readonly string[]>(() =>
  foreignDatabase.value ? [] : (writtenDatabase.value?.slice(home.value.length) ?? []),
)

/** What an address says of a database that is named from the signed-in one down. */
export function databaseParameter(path: readonly string[]): string | undefined {
  return [...home.value, ...path].join('/') || undefined
}

const writtenTime = computed<string | undefined>(() => place.value.parameters.get('at') ?? undefined)

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** What the address gives as a time when it is none; undefined otherwise. */
export const noTime = computed<string | undefined>(() => {
  const written = writtenTime.value
  const isTime = written === undefined || (timePattern.test(written) && !Number.isNaN(Date.parse(written)))
  return isTime ? undefined : written
})

/** The past moment looked at, as written in the address; undefined for the present. */
export const pastTime = computed<string | undefined>(() =>
  noTime.value === undefined ? writtenTime.value : undefined,
)

/** Parameters of an address; undefined ones are left out. */
type Parameters = Readonly<Record<string, string | undefined>>

/** The address of a page in the database and at the time looked at now. */
export function addressOf(path: readonly string[], parameters: Parameters = {}): string {
  return addressIn(path, {
    db: databaseParameter(databasePath.value),
    at: pastTime.value,
    ...parameters,
  })
}

/** The address of a page with these parameters and no others. */
export function addressIn(path: readonly string[], parameters: Parameters): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) search.set(name, value)
  const query = search.size === 0 ? '' : `?${search}`
  return base + path.map(encodeURIComponent).join('/') + query
}

/** The address of the present page with some parameters changed. */
export function addressWith(parameters: Parameters): string {
  const now = Object.fromEntries(place.value.parameters)
  return addressIn(place.value.path, { ...now, ...parameters })
}

/** Pages with unsaved input ask before they are left. */
const unsaved = new Set<() => boolean>()

/** Registers a page's question whether it holds input that would be lost; returns the way to take it back. */
export function guard(isUnsaved: () => boolean): () => void {
  unsaved.add(isUnsaved)
  return () => unsaved.delete(isUnsaved)
}

/** Whether a page or dialog holds input that is not saved. */
export function hasUnsaved(): boolean {
  return [...unsaved].some(isUnsaved => isUnsaved())
}

function mayLeave(): boolean {
  return !hasUnsaved() || confirm('Leave this page? What you have changed has not been saved.')
}

/** Goes to an address. */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push' && !mayLeave()) return
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  update()
  if (how === 'push') scrollTo(0, 0)
}

let shown = location.href
let hasArrived = false

function update(): void {
  shown = location.href
  const before = pageOf(place.value)
  place.value = readAddress(location)
  if (pageOf(place.value) !== before) hasArrived = true
}

const pageOf = ({ path, parameters }: Address) => `${path.join('/')} ${parameters.get('db') ?? ''}`

/** Whether the page was come to from another one; true once for each time: its heading then takes the focus. */
export function takeArrival(): boolean {
  const was = hasArrived
  hasArrived = false
  return was
}

/** Begins to listen to the browser's history and to clicks on links of the dashboard. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    if (location.href === shown) return
    if (mayLeave()) update()
    else history.pushState(null, '', shown)
  })
  addEventListener('beforeunload', event => {
    if (hasUnsaved()) event.preventDefault()
  })
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest?.('a[href]')
    if (!link || link.hasAttribute('target') || link.hasAttribute('download')) return
    // Links of drawings have no address of their own that is resolved.
    const url = new URL(link.getAttribute('href') ?? '', location.href)
    if (url.origin !== location.origin || !url.pathname.startsWith(base)) return
    event.preventDefault()
    go(url.pathname + url.search)
  })
}
