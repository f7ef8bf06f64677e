// Connects the shell to a service, the terminal and the history file. The history file has an entry per line, newest
// last, and only its owner can read it. Carriage returns separate the lines of an entry, because users cannot type
// them.

import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../../app/config/settings.ts'
import { replaceFile } from '../../base/text-file.ts'
import { withConnection } from '../client/connect.ts'
import type { ClientChoice } from '../client/options.ts'
import { shellLanguageOf } from '../client/shell-languages.ts'
import { runShell } from '../shell/shell.ts'
import { readTextFile } from './eval.ts'

/** Reads and runs queries until the user exits; resolves with the exit status. */
export async function openShell(
  choice: ClientChoice & { readonly json: boolean; readonly fql: string },
  config: Config,
): Promise<number> {
  const { stdin, stdout } = process
  const file = historyFile()
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true
  const language = await shellLanguageOf(choice.fql)
  return withConnection(choice, config, connection =>
    runShell({
      connection,
      input: stdin,
      output: stdout,
      isTerminal,
      asJson: choice.json,
      language,
      history: isTerminal ? readHistory(file) : [],
      onEntry: entry => {
        if (isTerminal) addToHistory(file, entry)
      },
      readFile: readTextFile,
    }),
  )
}

/** Maximum number of stored entries. */
const entriesMax = 1000

/** Longer entries are not stored. */
const entryCharsMax = 4000

/** Never stored: entries that may contain a password or a secret, or begin with a blank. */
const excluded = /password|secret|^\s/i

/** Returns a path in the user's folder for the state of programs. */
export function historyFile(env: NodeJS.ProcessEnv = process.env): string {
  const state = env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  return join(state, 'terrarium', 'history')
}

/**
 * Returns the entries, newest first, or no entries if the file cannot be read. Shortens a file with too many entries.
 */
export function readHistory(file: string): string[] {
  let entries: string[]
  try {
    entries = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
  const kept = entries.slice(-entriesMax)
  if (entries.length > 2 * entriesMax) shorten(file, kept)
  return kept.map(entry => entry.replaceAll('\r', '\n')).reverse()
}

/** Ignores errors: the shell works without a history. */
export function addToHistory(file: string, entry: string): void {
  if (entry === '' || entry.length > entryCharsMax || excluded.test(entry)) return
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, `${entry.replaceAll('\n', '\r')}\n`, { mode: 0o600 })
  } catch {
    // The shell works without a history.
  }
}

function shorten(file: string, entries: readonly string[]): void {
  try {
    replaceFile(file, `${entries.join('\n')}\n`)
  } catch {
    // If the file cannot be shortened, it still contains its old entries.
  }
}
