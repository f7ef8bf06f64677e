// Where the service of a data directory is reached: kept in the folder while it is served, for commands that are given
// nothing but the folder.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileOf = (folder: string) => join(folder, 'service-url')

/** Addresses that stand for all of the machine, and one of them that can be connected to. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

/** Notes the address at which the folder is served. */
export function noteAddress(folder: string, url: string): void {
  const address = new URL(url)
  address.hostname = wildcards[address.hostname] ?? address.hostname
  writeFileSync(fileOf(folder), `${address.origin}\n`, { mode: 0o600 })
}

/** Takes the note away. */
export function forgetAddress(folder: string): void {
  rmSync(fileOf(folder), { force: true })
}

/** The address that a service noted; one that was killed leaves its address behind. */
export function notedAddress(folder: string): string | undefined {
  try {
    return readFileSync(fileOf(folder), 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}
