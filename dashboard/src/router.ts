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

/** Names of the database looked at, from the signed-in one down; empty for that itself. */
export const databasePath = computed<readonly string[]>(() => {
  const written = place.value.parameters.get('db')
  return written === null || written === '' ? [] : written.split('/')
})

/** The past moment looked at, as written in the address; undefined for the present. */
export const pastTime = computed<string | undefined>(() => place.value.parameters.get('at') ?? undefined)

/** Parameters of an address; undefined ones are left out. */
type Parameters = Readonly<Record<string, string | undefined>>

/** The address of a page in the database and at the time looked at now. */
export function addressOf(path: readonly string[], parameters: Parameters = {}): string {
  return addressIn(path, { db: databasePath.value.join('/') || undefined, at: pastTime.value, ...parameters })
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

function mayLeave(): boolean {
  for (const isUnsaved of unsaved) {
    if (isUnsaved() && !confirm('Leave this page? What you have changed has not been saved.')) return false
  }
  return true
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

function update(): void {
  shown = location.href
  place.value = readAddress(location)
}

/** Begins to listen to the browser's history and to clicks on links of the dashboard. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    if (location.href === shown) return
    if (mayLeave()) update()
    else history.pushState(null, '', shown)
  })
  addEventListener('beforeunload', event => {
    if ([...unsaved].some(isUnsaved => isUnsaved())) event.preventDefault()
  })
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest?.('a[href]')
    if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href)
    if (url.origin !== location.origin || !url.pathname.startsWith(base)) return
    event.preventDefault()
    go(url.pathname + url.search)
  })
}
