// Files of a service in its data directory: a generated root secret, and the address of the service. A command that
// knows only the data directory reads these files to connect to the service.

import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flushNames } from '../base/folders.ts'
import type { Random } from '../base/random.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { readIfPresent } from '../base/text-file.ts'
import { StartError } from './command.ts'

const secretFileName = 'root-secret'
/** Length of a generated root secret in bytes (192 bits). */
const secretBytes = 24

/** A root secret. `created` is false if the file `file` already contained the secret. */
interface StoredSecret {
  readonly secret: string
  readonly file: string
  readonly created: boolean
}

/** The root secret in the folder. If the folder contains no root secret, generates and stores one. */
export function loadRootSecret(folder: string, random: Random): StoredSecret {
  const file = join(folder, secretFileName)
  const existing = readSecret(file)
  if (existing !== undefined) return { secret: existing, file, created: false }
  const secret = Buffer.from(random.bytes(secretBytes)).toString('base64url')
  // The secret is written to a draft, and then the draft is linked to the final name. So another process sees the
  // complete file or no file.
  const draft = `${file}.${random.hex(8)}`
  try {
    writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, file)
    flushNames(folder)
    return { secret, file, created: true }
  } catch (cause) {
    const winner = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? readSecret(file) : undefined
    if (winner !== undefined) return { secret: winner, file, created: false }
    throw new StartError(`the root secret cannot be stored in ${file}: ${reasonOf(cause)}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The root secret in the folder; undefined when the folder contains no root secret. */
export function readRootSecret(folder: string): string | undefined {
  return readSecret(join(folder, secretFileName))
}

function readSecret(file: string): string | undefined {
  let text: string | undefined
  try {
    text = readIfPresent(file)?.trim()
  } catch (cause) {
    throw new StartError(`the root secret in ${file} cannot be read: ${reasonOf(cause)}`)
  }
  if (text === '') throw new StartError(`the file ${file} is empty; remove it to get a new root secret`)
  return text
}

const fileOf = (folder: string) => join(folder, 'service-url')

/** Maps the addresses that mean all network interfaces to the loopback addresses that clients use instead. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

/** Writes the address of the service into the data directory. */
export function writeAddress(folder: string, url: string): void {
  const address = new URL(url)
  address.hostname = wildcards[address.hostname] ?? address.hostname
  writeFileSync(fileOf(folder), `${address.origin}\n`, { mode: 0o600 })
}

/** Removes the address of the service from the data directory. */
export function removeAddress(folder: string): void {
  rmSync(fileOf(folder), { force: true })
}

/** The address in the data directory; it may be stale, because a killed service does not remove it. */
export function readAddress(folder: string): string | undefined {
  return readIfPresent(fileOf(folder))?.trim()
}
