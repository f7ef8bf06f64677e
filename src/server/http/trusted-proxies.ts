// Behind a proxy all requests come from the proxy's address. Proxies say in `X-Forwarded-For` where a request came from,
// each adding the address that it sees at the end; anybody else may send that header, too. So it counts only on
// connections from addresses that the operator trusts, and of the list only what trusted proxies have added.

import { BlockList, isIP } from 'node:net'
import { clientOf } from './client-address.ts'

export class TrustedProxies {
  readonly #trusted = new BlockList()
  readonly #isEmpty: boolean

  /** `list`: addresses and networks such as `10.0.0.0/8`, with commas between them, as the setting holds them. */
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
   * Where a request comes from: the group (client-address.ts) of `direct`, the address at the other end of its connection, or
   * when that is a trusted proxy, of the last address in `forwarded` that is none. Addresses behind something that is
   * no address do not count.
   */
  clientOf(direct: string | undefined, forwarded: string | undefined): string {
    if (this.#isEmpty || forwarded === undefined || !this.#isTrusted(direct)) return clientOf(direct)
    let client = direct
    for (const text of forwarded.split(',').reverse()) {
      const address = bareAddress(text.trim())
      if (address === undefined) break
      client = address
      if (!this.#isTrusted(address)) break
    }
    return clientOf(client)
  }

  #isTrusted(address: string | undefined): boolean {
    if (address === undefined) return false
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
    return this.#trusted.check(mapped, isIP(mapped) === 6 ? 'ipv6' : 'ipv4')
  }
}

/** The address in an entry, which some proxies write with a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function bareAddress(entry: string): string | undefined {
  if (isIP(entry) > 0) return entry
  const [, inBrackets, withPort] = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i.exec(entry) ?? []
  const address = inBrackets ?? withPort
  return address !== undefined && isIP(address) > 0 ? address : undefined
}
