// The state of the shell: tabs with their texts, and the history of queries. It survives navigation and reloads. It is
// in the session storage, because closing the browser tab must delete the data in queries.

import { computed, signal } from '@preact/signals'
import type { Notation, Version } from '../language.ts'
import { forgetOnSignOut } from '../session.ts'
import { readStoredJson, store } from './storage.ts'

/** A query in a tab or in the history. */
interface ShellQuery {
  readonly text: string
  readonly version: Version
  /** The notation of a query of version 4. A query of version 10 is always text. */
  readonly notation: Notation
}

export interface ShellTab extends ShellQuery {
  readonly id: number
}

interface ShellState {
  readonly tabs: readonly ShellTab[]
  readonly activeId: number
  readonly history: readonly ShellQuery[]
}

const storageKey = 'terrarium-shell-notations'
const historyMax = 100
/** The history does not store longer texts. */
const historyCharsMax = 20_000

const first: ShellState = {
  tabs: [{ id: 1, text: '', version: '4', notation: 'text' }],
  activeId: 1,
  history: [],
}

// Only this file writes the stored text, so it has this shape.
const state = signal(readStoredJson<ShellState>('sessionStorage', storageKey) ?? first)

export const tabs = computed(() => state.value.tabs)
export const history = computed(() => state.value.history)
export const activeTab = computed(
  () => tabs.value.find(({ id }) => id === state.value.activeId) ?? (tabs.value[0] as ShellTab),
)

function update(changed: Partial<ShellState>): void {
  state.value = { ...state.value, ...changed }
  store('sessionStorage', storageKey, JSON.stringify(state.value))
}

/** Changes the active tab by default. */
export function changeTab(changed: Partial<Omit<ShellTab, 'id'>>, id = activeTab.value.id): void {
  update({ tabs: tabs.value.map(tab => (tab.id === id ? { ...tab, ...changed } : tab)) })
}

export function showTab(id: number): void {
  update({ activeId: id })
}

/** Without a query, the tab is empty and has the language of the active tab. */
export function openTab(query?: ShellQuery): void {
  const id = Math.max(...tabs.value.map(tab => tab.id)) + 1
  const { version } = activeTab.value
  const tab: ShellTab = { text: '', version, notation: 'text', ...query, id }
  update({ tabs: [...tabs.value, tab], activeId: id })
}

/** Closes a tab. If the tab is the last one, empties it instead. */
export function closeTab(id: number): void {
  const others = tabs.value.filter(tab => tab.id !== id)
  if (others.length === 0) update({ tabs: first.tabs, activeId: 1 })
  else
    update({
      tabs: others,
      activeId: state.value.activeId === id ? (others.at(-1) as ShellTab).id : state.value.activeId,
    })
}

/** Puts the query at the top of the history. */
export function rememberQuery({ text, version, notation }: ShellQuery): void {
  if (text.length > historyCharsMax) return
  const others = history.value.filter(
    each => each.text !== text || each.version !== version || each.notation !== notation,
  )
  update({ history: [{ text, version, notation }, ...others].slice(0, historyMax) })
}

function forgetShell(): void {
  update(first)
  store('sessionStorage', storageKey, undefined)
}

/** A tab contains a text that is not in the history, because it was never run. */
function isUnsaved(): boolean {
  const known = new Set(history.value.map(({ text }) => text))
  return tabs.value.some(({ text }) => text.trim() !== '' && !known.has(text))
}

forgetOnSignOut(forgetShell, isUnsaved)
