// The address of the service of a data directory. The service writes it into the directory, for commands that get only
// the directory.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileOf = (folder: string) => join(folder, 'service-url')

/** Addresses that stand for all interfaces, each with a loopback address to connect to. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

/** Writes the address of the service into the data directory. */
export function writeAddress(folder: string, url: string): void {
  const address = new URL(url)
  address.hostname = wildcards[address.hostname] ?? address.hostname
  writeFileSync(fileOf(folder), `${address.origin}\n`, { mode: 0o600 })
}

/** Removes the address. */
export function removeAddress(folder: string): void {
  rmSync(fileOf(folder), { force: true })
}

/** The address in the data directory; it may be stale, because a killed service does not remove it. */
export function readAddress(folder: string): string | undefined {
  try {
    return readFileSync(fileOf(folder), 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}
