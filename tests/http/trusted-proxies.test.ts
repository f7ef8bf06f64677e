// The client of a request behind proxies: only entries of trusted proxies count.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxiesFault } from '../../src/app/config/faults.ts'
import { clientOf, TrustedProxies } from '../../src/server/http/client-address.ts'
import { startFakeService } from './fake-engine.ts'

test('without trusted proxies the header is ignored', () => {
  const none = new TrustedProxies(undefined)
  assert.equal(none.clientOf('10.0.0.1', '192.0.2.7'), '10.0.0.1')
  assert.equal(new TrustedProxies('10.0.0.2').clientOf('10.0.0.1', '192.0.2.7'), '10.0.0.1')
})

test('the last address that is not a trusted proxy counts', () => {
  const proxies = new TrustedProxies('10.0.0.0/8, ::1,2001:db8:ff::/48')
  for (const [direct, forwarded, client] of [
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '192.0.2.7', '192.0.2.7'],
    // The client may have written anything in front.
    ['10.0.0.1', '198.51.100.1, 192.0.2.7', '192.0.2.7'],
    ['10.0.0.1', '198.51.100.1, 192.0.2.7, 10.9.9.9', '192.0.2.7'],
    ['::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
    ['::1', '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
    ['::1', '2001:db8:1:2:3::4, 2001:db8:ff::1', '2001:db8:1:2::/64'],
    ['10.0.0.1', '192.0.2.7:4711', '192.0.2.7'],
    ['10.0.0.1', '[2001:db8:1:2:3::4]:4711', '2001:db8:1:2::/64'],
    // Proxies may write an address in another form than sockets show.
    ['::1', '::FFFF:192.0.2.7', '192.0.2.7'],
    ['::1', '::ffff:c000:0207', '192.0.2.7'],
    ['::1', '192.0.2.7, ::FFFF:a00:1', '192.0.2.7'],
    ['::1', '2001:0DB8:0001:2::4', '2001:db8:1:2::/64'],
    ['::1', '[2001:DB8:01:2:0:0:0:4]:4711', '2001:db8:1:2::/64'],
    ['::1', '2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', 'FE80:0::1%eth0', 'fe80:0:0:0::/64'],
    // All addresses are proxies: the one furthest away counts.
    ['10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    // Entries before an invalid entry are unknown.
    ['10.0.0.1', '192.0.2.7, unknown', '10.0.0.1'],
    ['10.0.0.1', '192.0.2.7, unknown, 10.2.2.2', '10.2.2.2'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['192.0.2.9', '10.0.0.1', '192.0.2.9'],
    [undefined, '192.0.2.7', ''],
  ] as const) {
    assert.equal(proxies.clientOf(direct, forwarded), client, `${direct} ${forwarded}`)
  }
})

test('the setting is a list of addresses and networks', () => {
  for (const right of ['127.0.0.1', '10.0.0.0/8,::1', ' 10.0.0.1 , 2001:db8::/32', '0.0.0.0/0']) {
    assert.equal(proxiesFault(right), undefined, right)
  }
  for (const wrong of [
    'proxy',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    '10.0.0.1,',
    '10.0.0/8',
  ]) {
    assert.match(proxiesFault(wrong) ?? '', /list of IP addresses/, wrong)
  }
})

test('the proxy decides about the client of each request on its connection', async () => {
  await using service = await startFakeService({ trustedProxies: '127.0.0.0/8' })
  for (const client of ['192.0.2.1', '192.0.2.2']) {
    const headers = { authorization: 'Bearer right', 'x-forwarded-for': client }
    await (await fetch(service.url, { method: 'POST', headers, body: '1' })).text()
  }
  const addresses = service.engine.seen.map(({ address }) => address)
  assert.deepEqual(addresses, ['192.0.2.1', '192.0.2.2'])
})

test('clients are identified by their IPv4 address or by their IPv6 network', () => {
  const cases: [address: string | undefined, client: string][] = [
    ['127.0.0.2', '127.0.0.2'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, ''],
  ]
  for (const [address, client] of cases) assert.equal(clientOf(address), client)
})
