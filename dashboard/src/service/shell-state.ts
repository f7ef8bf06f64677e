// What the shell keeps while other pages are looked at, and over a reload: tabs with their texts, and the history of
// queries. In the tab's session storage: queries hold data, which a closed tab forgets.

import { computed, signal } from '@preact/signals'
import type { Notation, Version } from '../language.ts'
import { forgetOnSignOut } from '../session.ts'

/** A tab of the shell. */
interface ShellTab {
  readonly id: number
  readonly text: string
  readonly version: Version
  /** For version 4; version 10 is always text. */
  readonly notation: Notation
}

/** A query that was run. */
interface PastQuery {
  readonly text: string
  readonly version: Version
  readonly notation: Notation
}

interface Kept {
  readonly tabs: readonly ShellTab[]
  readonly activeId: number
  readonly history: readonly PastQuery[]
}

const storageKey = 'terrarium-shell-notations'
const historyMax = 100
/** Longer texts are not kept in the history. */
const historyCharsMax = 20_000

const first: Kept = {
  tabs: [{ id: 1, text: '', version: '4', notation: 'text' }],
  activeId: 1,
  history: [],
}

function stored(): Kept {
  try {
    const text = sessionStorage.getItem(storageKey)
    // Only this file writes it, in this shape.
    return text === null ? first : (JSON.parse(text) as Kept)
  } catch {
    return first
  }
}

const kept = signal<Kept>(stored())

export const tabs = computed(() => kept.value.tabs)
export const history = computed(() => kept.value.history)
export const activeTab = computed(
  () => tabs.value.find(({ id }) => id === kept.value.activeId) ?? (tabs.value[0] as ShellTab),
)

function keep(changed: Partial<Kept>): void {
  kept.value = { ...kept.value, ...changed }
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(kept.value))
  } catch {
    // Storage is full or refused: the texts live until the page is reloaded.
  }
}

/** Changes a tab; the one that is shown when no other is named. */
export function changeTab(changed: Partial<Omit<ShellTab, 'id'>>, id = activeTab.value.id): void {
  keep({ tabs: tabs.value.map(tab => (tab.id === id ? { ...tab, ...changed } : tab)) })
}

/** Shows a tab. */
export function showTab(id: number): void {
  keep({ activeId: id })
}

/** Opens a new tab, with a query or in the language of the tab that is shown. */
export function openTab(query?: PastQuery): void {
  const id = Math.max(...tabs.value.map(tab => tab.id)) + 1
  const { version } = activeTab.value
  const tab: ShellTab = { text: '', version, notation: 'text', ...query, id }
  keep({ tabs: [...tabs.value, tab], activeId: id })
}

/** Closes a tab; the last one is emptied instead. */
export function closeTab(id: number): void {
  const others = tabs.value.filter(tab => tab.id !== id)
  if (others.length === 0) keep({ tabs: first.tabs, activeId: 1 })
  else
    keep({
      tabs: others,
      activeId: kept.value.activeId === id ? (others.at(-1) as ShellTab).id : kept.value.activeId,
    })
}

/** Puts a query on top of the history. */
export function rememberQuery({ text, version, notation }: PastQuery): void {
  if (text.length > historyCharsMax) return
  const others = history.value.filter(
    each => each.text !== text || each.version !== version || each.notation !== notation,
  )
  keep({ history: [{ text, version, notation }, ...others].slice(0, historyMax) })
}

function forgetShell(): void {
  keep(first)
  try {
    sessionStorage.removeItem(storageKey)
  } catch {
    // There is nothing to forget then.
  }
}

/** Whether a tab holds a text that was never run: the history does not have it. */
function isUnsaved(): boolean {
  const known = new Set(history.value.map(({ text }) => text))
  return tabs.value.some(({ text }) => text.trim() !== '' && !known.has(text))
}

forgetOnSignOut(forgetShell, isUnsaved)
