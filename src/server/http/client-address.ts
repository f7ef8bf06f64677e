// Groups clients by address, so that limits are divided fairly among them. Behind trusted proxies, the address of the
// client counts, not that of a proxy.

import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net'

/** A socket for IPv6 shows IPv4 addresses with this prefix. */
const mappedPrefix = '::ffff:'

/**
 * 16-bit parts of an IPv6 address that identify a client's network. The owner of the network chooses the other four.
 */
const networkParts = 4

/** The address itself for IPv4, its /64 network for IPv6. `address` has the form in which sockets show addresses. */
export function clientOf(address: string | undefined): string {
  if (address === undefined) return ''
  const plain = withoutPrefix(address)
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const leading = head === '' ? [] : head.split(':')
  // "::" replaces a run of zeros. The parts after it belong to the network only if the run is short.
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - leading.length - trailing.length
  const parts = [...leading, ...Array.from({ length: zeros }, () => '0'), ...trailing]
  return `${parts.slice(0, networkParts).join(':')}::/64`
}

function withoutPrefix(address: string): string {
  const isMapped = address.startsWith(mappedPrefix) && address.includes('.')
  return isMapped ? address.slice(mappedPrefix.length) : address
}

/**
 * Finds the client of a request behind proxies. Each proxy appends the address of its own client to `X-Forwarded-For`,
 * but any client may send the header as well. So it is read only on connections from trusted addresses, and only the
 * entries that trusted proxies have appended are used.
 */
export class TrustedProxies {
  readonly #trusted = new BlockList()
  readonly #isEmpty: boolean

  /** `list`: the setting, with addresses and networks such as `10.0.0.0/8`, separated by commas. */
  constructor(list: string | undefined) {
    const entries = (list ?? '').split(',').flatMap(text => text.trim() || [])
    this.#isEmpty = entries.length === 0
    for (const entry of entries) {
      const [address = '', bits] = entry.split('/')
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#trusted.addAddress(address, family)
      else this.#trusted.addSubnet(address, Number(bits), family)
    }
  }

  /**
   * Returns the group of a request's client: usually `direct`, the remote address of the connection. If `direct` is a
   * trusted proxy, the client is the last address in `forwarded` that is not trusted, or the first address if all are
   * trusted. Entries to the left of an invalid entry are ignored.
   */
  clientOf(direct: string | undefined, forwarded: string | undefined): string {
    if (this.#isEmpty || forwarded === undefined || !this.#isTrusted(direct)) return clientOf(direct)
    let client = direct
    for (const text of forwarded.split(',').reverse()) {
      const address = addressIn(text.trim())
      if (address === undefined) break
      client = address
      if (!this.#isTrusted(address)) break
    }
    return clientOf(client)
  }

  #isTrusted(address: string | undefined): boolean {
    if (address === undefined) return false
    const plain = withoutPrefix(address)
    return this.#trusted.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
  }
}

/**
 * Some proxies add a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. An IPv6 address has many forms, such as
 * `2001:DB8:0::1`. The result has the form in which sockets show the address, so that a client has only one group.
 */
function addressIn(entry: string): string | undefined {
  const address = withoutPort(entry)
  if (address === undefined || !isIPv6(address)) return address
  return new SocketAddress({ address, family: 'ipv6' }).address
}

function withoutPort(entry: string): string | undefined {
  if (isIP(entry) > 0) return entry
  const [, inBrackets, withPort] = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i.exec(entry) ?? []
  const address = inBrackets ?? withPort
  return address !== undefined && isIP(address) > 0 ? address : undefined
}
