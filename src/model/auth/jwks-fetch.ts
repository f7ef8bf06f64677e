// Fetches the key set of an access provider. Customers configure the URI, so it could point to the machine or network
// of the service (server-side request forgery). By default, only HTTPS and public addresses are allowed: the addresses
// of a host name are checked for each connection, and the connection uses a checked address. Redirects are not
// followed, and time and size are limited.

import { lookup as systemLookup } from 'node:dns'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { type RequestOptions, request as requestSecure } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Timers } from '../../base/timers.ts'

export const jwksFetchLimits = {
  /** Maximum number of bytes of a key set; own limit. */
  jwksBytesMax: 1_048_576,
  /** Maximum time in milliseconds for fetching a key set. */
  jwksTimeoutMs: 5000,
} as const

/** `modified` is false if the key set still has the ETag of the request. */
export type KeySetResponse =
  | { readonly modified: false }
  | { readonly modified: true; readonly body: string; readonly etag: string | undefined }

/** Rejects, on failure, with an Error whose message states the reason, for the service log. */
export type FetchKeySet = (uri: string, etag: string | undefined) => Promise<KeySetResponse>

interface JwksFetchOptions {
  readonly timers: Timers
  /** Allows plain HTTP and private addresses. */
  readonly allowInsecure: boolean
  /** Resolves host names. The default is the resolver of the system. */
  readonly lookup?: LookupFunction
}

export function createJwksFetch(options: JwksFetchOptions): FetchKeySet {
  return async (uri, etag) => {
    const { request, settings } = prepare(uri, options)
    const abort = new AbortController()
    const timeout = () => abort.abort(new Error('the key server did not answer in time'))
    const cancel = options.timers.after(jwksFetchLimits.jwksTimeoutMs, timeout)
    try {
      const headers = { accept: 'application/json', ...(etag !== undefined && { 'if-none-match': etag }) }
      const response = await send(request, { ...settings, headers, signal: abort.signal })
      return await receive(response, etag !== undefined)
    } catch (error) {
      throw abort.signal.aborted ? abort.signal.reason : error
    } finally {
      cancel()
    }
  }
}

type SendRequest = typeof requestSecure

/** Omits the query string of the URI, as the hosted service did. */
function prepare(uri: string, options: JwksFetchOptions): { request: SendRequest; settings: RequestOptions } {
  if (!URL.canParse(uri)) throw new Error('the jwks_uri is not a URI')
  const url = new URL(uri)
  const secure = url.protocol === 'https:'
  if (!secure && !(options.allowInsecure && url.protocol === 'http:')) {
    throw new Error(`key sets are not fetched over ${url.protocol}`)
  }
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  if (!options.allowInsecure && isIP(hostname) !== 0 && !isPublicAddress(hostname)) {
    throw new Error(`${hostname} is a private address`)
  }
  const lookup = options.allowInsecure ? options.lookup : publicLookup(options.lookup)
  return {
    request: secure ? requestSecure : requestPlain,
    settings: { hostname, port: url.port, path: url.pathname, agent: false, ...(lookup && { lookup }) },
  }
}

function send(request: SendRequest, settings: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(settings, resolve).on('error', reject).end()
  })
}

async function receive(response: IncomingMessage, conditional: boolean): Promise<KeySetResponse> {
  const { statusCode, headers } = response
  if (statusCode === 304 && conditional) {
    response.destroy()
    return { modified: false }
  }
  if (statusCode !== 200) {
    response.destroy()
    throw new Error(`the key server answered ${statusCode}`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > jwksFetchLimits.jwksBytesMax) throw new Error('the key set is too large')
    chunks.push(chunk)
  }
  return { modified: true, body: Buffer.concat(chunks).toString('utf8'), etag: headers.etag }
}

// IANA's special-purpose address registry for IPv4.
const nonPublicRanges: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
const nonPublic = new BlockList()
for (const [start, bits] of nonPublicRanges) nonPublic.addSubnet(start, bits, 'ipv4')

// In IPv6, only 2000::/3 is global. Some ranges in it are reserved for documentation or contain embedded IPv4
// addresses.
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
const notReallyGlobal = new BlockList()
notReallyGlobal.addSubnet('2001::', 23, 'ipv6')
notReallyGlobal.addSubnet('2001:db8::', 32, 'ipv6')
notReallyGlobal.addSubnet('2002::', 16, 'ipv6')
notReallyGlobal.addSubnet('3fff::', 20, 'ipv6')

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !nonPublic.check(address, 'ipv4')
    case 6:
      return global.check(address, 'ipv6') && !notReallyGlobal.check(address, 'ipv6')
    default:
      return false
  }
}

/** Fails if any address of the host is not public. */
export function publicLookup(lookup: LookupFunction = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, resolved) => {
      const addresses = Array.isArray(resolved) ? resolved : []
      const [first] = addresses
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '')
      const found = addresses.find(({ address }) => !isPublicAddress(address))
      if (found) return callback(new Error(`${hostname} is ${found.address}, a private address`), '')
      if (options.all) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}
