// Groups clients by address, for limits that clients share fairly.

import { isIPv6 } from 'node:net'

/** The prefix of IPv4 addresses that a socket for IPv6 shows. */
const mappedPrefix = '::ffff:'

/** How many of the eight parts of an IPv6 address identify a client; the owner of the network chooses the rest. */
const networkParts = 4

/** The group of an address: the address itself for IPv4, its /64 network for IPv6. */
export function clientOf(address: string | undefined): string {
  if (address === undefined || !isIPv6(address)) return address ?? ''
  if (address.startsWith(mappedPrefix) && address.includes('.')) return address.slice(mappedPrefix.length)
  const [head = '', tail] = address.split('::')
  const leading = head === '' ? [] : head.split(':')
  // "::" replaces a run of zeros. The parts after "::" belong to the network only if the run is short.
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - leading.length - trailing.length
  const parts = [...leading, ...Array.from({ length: zeros }, () => '0'), ...trailing]
  return `${parts.slice(0, networkParts).join(':')}::/64`
}
