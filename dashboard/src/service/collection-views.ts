// Stores the view of each collection in memory, which a reload clears. The columns are also in the browser's storage.
// Signing out deletes the views, because filters contain data.

import { databasePath } from '../router.ts'
import { forgetOnSignOut } from '../session.ts'
import { readStoredJson, store } from './storage.ts'

/** Parameters of an address that form a view. */
const parts = ['index', 'terms', 'order', 'filter', 'sort', 'columns'] as const

type Part = (typeof parts)[number]

/** The parameters that are set. */
type View = Readonly<Partial<Record<Part, string>>>

const views = new Map<string, View>()
const storageKey = 'terrarium-columns'
const storedMax = 200

function keyOf(collection: string): string {
  return [...databasePath.value, collection].join('/')
}

export function viewIn(parameters: URLSearchParams): View {
  const view: Partial<Record<Part, string>> = {}
  for (const part of parts) {
    const value = parameters.get(part)
    if (value !== null) view[part] = value
  }
  return view
}

export function saveView(collection: string, view: View): void {
  const key = keyOf(collection)
  const before = views.get(key)
  views.set(key, view)
  if (before !== undefined && before.columns === view.columns) return
  const stored = storedColumns().filter(([name]) => name !== key)
  if (view.columns !== undefined) stored.push([key, view.columns])
  store('localStorage', storageKey, JSON.stringify(stored.slice(-storedMax)))
}

export function savedView(collection: string): View {
  const key = keyOf(collection)
  const kept = views.get(key)
  if (kept !== undefined) return kept
  const columns = storedColumns().find(([name]) => name === key)?.[1]
  return columns === undefined ? {} : { columns }
}

function storedColumns(): (readonly [key: string, columns: string])[] {
  // Only `saveView` writes the stored text, so it has this shape.
  return readStoredJson<(readonly [string, string])[]>('localStorage', storageKey) ?? []
}

forgetOnSignOut(() => {
  views.clear()
  store('localStorage', storageKey, undefined)
})
