// What can be wrong with the value of a setting, in the words that follow its name in an error.

import { isIP } from 'node:net'
import { AddressFault, parseDatabaseAddress } from '../../base/database-address.ts'

/**
 * What keeps a text from being a host; undefined for none. Names are resolved by the system; here only what can never
 * be one is refused.
 */
export function hostFault(host: string): string | undefined {
  return isIP(host) !== 0 || /^[\w.-]+$/.test(host) ? undefined : 'must be a host name or an IP address'
}

/** What keeps a text from naming a shared database; undefined for none. */
export function storeFault(text: string): string | undefined {
  try {
    parseDatabaseAddress(text)
    return undefined
  } catch (cause) {
    if (cause instanceof AddressFault) return cause.message
    throw cause
  }
}

/** What keeps a text from being a web address; undefined for none. */
export function urlFault(text: string): string | undefined {
  const isUrl = /^https?:\/\//.test(text) && URL.canParse(text)
  return isUrl ? undefined : 'must be an http or https URL'
}

/** What a root secret has to have where others than this machine can reach the service. */
export const secretCharsMin = 8

/**
 * What keeps a text from being a root secret; undefined for none. White space would end the credential in an
 * `Authorization` header.
 */
export function secretFault(secret: string): string | undefined {
  return /\s/.test(secret) ? 'must not hold white space' : undefined
}

/** Whether a root secret could be guessed; the service then serves its own machine only. */
export function isShortSecret(secret: string | undefined): boolean {
  return secret !== undefined && secret.length < secretCharsMin
}

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** What is wrong with a list of addresses and networks; undefined when nothing is. */
export function proxiesFault(text: string): string | undefined {
  for (const entry of text.split(',')) {
    const [address = '', bits, rest] = entry.trim().split('/')
    const bitsMax = isIP(address) === 6 ? 128 : 32
    const areBitsRight = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
    if (isIP(address) === 0 || !areBitsRight || rest !== undefined) {
      return 'must be a list of IP addresses and networks such as 10.0.0.0/8,::1'
    }
  }
  return undefined
}
