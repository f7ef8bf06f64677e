// Checks the values of settings. Each function `…Fault` returns undefined for a valid value, else the part of the error
// message after the setting's name.

import { isIP } from 'node:net'
import { AddressFault, parseBackupAddress, parseDatabaseAddress } from '../../base/addresses.ts'

/** Checks the form only: a host name that does not exist passes. */
export function hostFault(host: string): string | undefined {
  return isIP(host) !== 0 || /^[\w.-]+$/.test(host) ? undefined : 'must be a host name or an IP address'
}

export function storeFault(text: string): string | undefined {
  try {
    parseDatabaseAddress(text)
    return undefined
  } catch (cause) {
    if (cause instanceof AddressFault) return cause.message
    throw cause
  }
}

export function backupFault(text: string): string | undefined {
  return parseBackupAddress(text) === undefined ? 'must be a folder or s3://BUCKET/PREFIX' : undefined
}

export function urlFault(text: string): string | undefined {
  const isUrl = /^https?:\/\//.test(text) && URL.canParse(text)
  return isUrl ? undefined : 'must be an http or https URL'
}

/** Minimum length of the root secret of a service that other machines can reach. */
export const secretCharsMin = 8

/** White space would end the credential in an `Authorization` header. */
export function secretFault(secret: string): string | undefined {
  return /\s/.test(secret) ? 'must not contain white space' : undefined
}

/** Short secrets can be guessed, so a service with a short secret must listen on a loopback address. */
export function isShortSecret(secret: string | undefined): boolean {
  return secret !== undefined && secret.length < secretCharsMin
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

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
