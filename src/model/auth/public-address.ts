// Protects against server-side request forgery. Key sets are fetched from URIs that customers configure, which could
// point to the service's own machine or network. Only public addresses are allowed. The addresses of a name are checked
// when connecting, and the connection uses exactly the checked address.

import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

// The special-purpose registries of IANA for IPv4.
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

// In IPv6 only 2000::/3 is global. Some of its ranges are for documentation, or contain an IPv4 address.
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
const notReallyGlobal = new BlockList()
notReallyGlobal.addSubnet('2001::', 23, 'ipv6')
notReallyGlobal.addSubnet('2001:db8::', 32, 'ipv6')
notReallyGlobal.addSubnet('2002::', 16, 'ipv6')
notReallyGlobal.addSubnet('3fff::', 20, 'ipv6')

/** Returns whether an IP address belongs to the public internet. */
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

/** Resolves like `lookup`, and fails when any of a name's addresses is not public. */
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
