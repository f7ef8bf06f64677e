// What was typed in earlier shells: a file with an entry a line, newest last, readable by its owner alone. The lines of
// an entry are separated by carriage returns there, which cannot be typed.

import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Entries kept. */
const entriesMax = 1000

/** Characters of an entry that is kept. */
const entryCharsMax = 4000

/** Entries that may hold a password or a secret, or begin with a blank, are not kept. */
const notKept = /password|secret|^\s/i

/** Where the history is kept: the place that the system has for what programs remember. */
export function historyFile(env: NodeJS.ProcessEnv = process.env): string {
  const state = env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  return join(state, 'terrarium', 'history')
}

/** The entries of a file, newest first; none when it cannot be read. Shortens a file that has grown too long. */
export function readHistory(file: string): string[] {
  let entries: string[]
  try {
    entries = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
  const kept = entries.slice(-entriesMax)
  if (entries.length > 2 * entriesMax) replaceFile(file, kept)
  return kept.map(entry => entry.replaceAll('\r', '\n')).reverse()
}

/** Adds an entry. A history that cannot be written is no reason to stop. */
export function addToHistory(file: string, entry: string): void {
  if (entry === '' || entry.length > entryCharsMax || notKept.test(entry)) return
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, `${entry.replaceAll('\n', '\r')}\n`, { mode: 0o600 })
  } catch {
    // The shell works without one.
  }
}

function replaceFile(file: string, entries: readonly string[]): void {
  try {
    const draft = `${file}.new`
    writeFileSync(draft, `${entries.join('\n')}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    // It stays as long as it is.
  }
}
