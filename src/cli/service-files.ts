// Files in the data directory with a generated root secret and the address of the service. A command that knows only
// the data directory connects to the service with them.

import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flushNames } from '../base/folders.ts'
import type { Random } from '../base/random.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { readIfPresent } from '../base/text-file.ts'
import { CommandError } from './command.ts'

const secretFileName = 'root-secret'
/** The random bytes of a root secret: 192 bits. */
const secretBytes = 24

/** `created`: false if the file already contained the secret. */
interface StoredSecret {
  readonly secret: string
  readonly file: string
  readonly created: boolean
}

/** Generates and stores a root secret if the folder has none. */
export function loadRootSecret(folder: string, random: Random): StoredSecret {
  const file = join(folder, secretFileName)
  const existing = readSecret(file)
  if (existing !== undefined) return { secret: existing, file, created: false }
  const secret = Buffer.from(random.bytes(secretBytes)).toString('base64url')
  // Linked to its final name when complete, so another process sees the whole file or no file.
  const temporary = `${file}.${random.hex(8)}`
  try {
    writeFileSync(temporary, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(temporary, file)
    flushNames(folder)
    return { secret, file, created: true }
  } catch (cause) {
    const winner = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? readSecret(file) : undefined
    if (winner !== undefined) return { secret: winner, file, created: false }
    throw new CommandError(`the root secret cannot be stored in ${file}: ${reasonOf(cause)}`)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Returns undefined when the folder contains no root secret. */
export function readRootSecret(folder: string): string | undefined {
  return readSecret(join(folder, secretFileName))
}

function readSecret(file: string): string | undefined {
  let text: string | undefined
  try {
    text = readIfPresent(file)?.trim()
  } catch (cause) {
    throw new CommandError(`the root secret in ${file} cannot be read: ${reasonOf(cause)}`)
  }
  if (text === '') throw new CommandError(`the file ${file} is empty; remove it to get a new root secret`)
  return text
}

const addressFile = (folder: string) => join(folder, 'service-url')

/** Addresses that mean all network interfaces, with the loopback addresses that clients use instead. */
const wildcards: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

export function writeAddress(folder: string, url: string): void {
  const address = new URL(url)
  address.hostname = wildcards[address.hostname] ?? address.hostname
  writeFileSync(addressFile(folder), `${address.origin}\n`, { mode: 0o600 })
}

export function removeAddress(folder: string): void {
  rmSync(addressFile(folder), { force: true })
}

/** May be stale, because a killed service does not remove it. */
export function readAddress(folder: string): string | undefined {
  return readIfPresent(addressFile(folder))?.trim()
}
