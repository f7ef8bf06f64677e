// The router. Every page has an address under `/dashboard/`, and navigation uses the browser's history. The current
// database and time are parameters of the address, so that links contain them.

import { computed, signal } from '@preact/signals'

const base = '/dashboard/'

/** The part of the address after `/dashboard/`. */
interface Address {
  /** The decoded segments of the path. */
  readonly path: readonly string[]
  readonly parameters: URLSearchParams
}

function readAddress(url: Location | URL): Address {
  const steps = url.pathname
    .slice(base.length)
    .split('/')
    .filter(step => step !== '')
  return { path: steps.map(decodeStep), parameters: new URLSearchParams(url.search) }
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

export const address = signal<Address>(readAddress(location))

/** Database to which the user's secret belongs (the signed-in database), outermost first. */
export const home = signal<readonly string[]>([])

/** The path in the address begins at the outermost database, so that a link has the same meaning for all secrets. */
const writtenDatabase = computed<readonly string[] | undefined>(() => {
  const written = address.value.parameters.get('db')
  return written === null || written === '' ? undefined : written.split('/')
})

/** The database in the address if it is outside of the signed-in database, else undefined. */
export const foreignDatabase = computed<readonly string[] | undefined>(() => {
  const written = writtenDatabase.value
  return written && home.value.some((name, level) => written[level] !== name) ? written : undefined
})

/** The path below the signed-in database; empty for the signed-in database itself. */
export const databasePath = computed<readonly string[]>(() =>
  foreignDatabase.value ? [] : (writtenDatabase.value?.slice(home.value.length) ?? []),
)

/** The parameter `db` for a path below the signed-in database; undefined for the outermost database. */
export function databaseParameter(path: readonly string[]): string | undefined {
  return [...home.value, ...path].join('/') || undefined
}

const writtenTime = computed<string | undefined>(() => address.value.parameters.get('at') ?? undefined)

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** The time in the address if it is invalid, else undefined. */
export const invalidTime = computed<string | undefined>(() => {
  const written = writtenTime.value
  const isTime = written === undefined || (timePattern.test(written) && !Number.isNaN(Date.parse(written)))
  return isTime ? undefined : written
})

/** The time in the form of the address; undefined for the present. */
export const pastTime = computed<string | undefined>(() =>
  invalidTime.value === undefined ? writtenTime.value : undefined,
)

/** Undefined parameters are left out. */
type Parameters = Readonly<Record<string, string | undefined>>

/** The parameters that select the first page of rows. */
export const fromStart: Parameters = { after: undefined, before: undefined }

/** Returns the address of a page with the current database and time, unless `parameters` replace them. */
export function addressOf(path: readonly string[], parameters: Parameters = {}): string {
  return addressIn(path, { db: databaseParameter(databasePath.value), at: pastTime.value, ...parameters })
}

/** Returns an address with no other parameters: the current database and time are left out. */
export function addressIn(path: readonly string[], parameters: Parameters): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) search.set(name, value)
  const query = search.size === 0 ? '' : `?${search}`
  return base + path.map(encodeURIComponent).join('/') + query
}

/** Returns the current address with some parameters changed. */
export function addressWith(parameters: Parameters): string {
  const now = Object.fromEntries(address.value.parameters)
  return addressIn(address.value.path, { ...now, ...parameters })
}

/** If one of these checks returns true, the router asks the user before it leaves the page. */
const unsaved = new Set<() => boolean>()

/** Returns a function that removes the check. */
export function guard(isUnsaved: () => boolean): () => void {
  unsaved.add(isUnsaved)
  return () => unsaved.delete(isUnsaved)
}

/** Returns whether a page or a dialog has unsaved input. */
export function hasUnsaved(): boolean {
  return [...unsaved].some(isUnsaved => isUnsaved())
}

function mayLeave(): boolean {
  return !hasUnsaved() || confirm('Leave this page? Unsaved changes will be lost.')
}

/** Opens an address. `replace`: without a new entry in the history and without a question about unsaved input. */
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
  const before = pageOf(address.value)
  address.value = readAddress(location)
  if (pageOf(address.value) !== before) hasArrived = true
}

const pageOf = ({ path, parameters }: Address) => `${path.join('/')} ${parameters.get('db') ?? ''}`

/** True once after each navigation to another page, whose heading then receives the focus. */
export function takeArrival(): boolean {
  const was = hasArrived
  hasArrived = false
  return was
}

/** Handles history events and clicks on links of the dashboard. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    if (location.href === shown) return
    // The browser has already left the address, so cancelling returns to it.
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
    // The `href` property of SVG links is not a string, so the attribute is resolved here.
    const url = new URL(link.getAttribute('href') ?? '', location.href)
    if (url.origin !== location.origin || !url.pathname.startsWith(base)) return
    event.preventDefault()
    go(url.pathname + url.search)
  })
}
