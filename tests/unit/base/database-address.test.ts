// Addresses of PostgreSQL databases: those that libpq accepts are accepted, or rejected with the true reason and
// without their text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeFault } from '../../../src/app/config/faults.ts'
import { hostName, parseDatabaseAddress } from '../../../src/base/addresses.ts'

/** User, password, servers and database of an address, in one line. */
function summary(text: string): string {
  const { database, hosts, password, user } = parseDatabaseAddress(text)
  return [user, password, hosts.map(hostName).join(','), database].join(' ')
}

const taken: Readonly<Record<string, string>> = {
  'postgres://ann:pw@db.example:6000/app': 'ann pw db.example:6000 app',
  'postgresql://ann@db.example': 'ann  db.example ',
  'postgres://ann:pw@a:1,b,[::1]:3/app?target_session_attrs=read-write': 'ann pw a:1,b,[::1]:3 app',
  'postgres://ann@/app?host=/run/postgresql': 'ann  /run/postgresql app',
  'postgres://ann@%2Frun%2Fpostgresql/app': 'ann  /run/postgresql app',
  'postgres:///app?host=a,b&port=5433': '  a:5433,b:5433 app',
  'postgres:///?dbname=app&user=ann&password=pw&host=a&port=1': 'ann pw a:1 app',
  'postgres://ann:p#w?d:&%40%2F%25é@db/app': 'ann p#w?d:&@/%é db app',
  'postgres://localhost': '  localhost ',
}
for (const [address, expected] of Object.entries(taken))
  test(`${address} is accepted`, () => assert.equal(summary(address), expected))

const rejected: Readonly<Record<string, RegExp>> = {
  'host=db user=ann password=SECRET': /begins with postgres:/,
  'http://ann:SECRET@db/app': /begins with postgres:/,
  'postgres://ann:SEC@RET@db/app': /write @ as %40/,
  'postgres://ann:SEC/RET@db/app': /write @ as %40 and \/ as %2F/,
  'postgres://ann:12/SECRET@db/app': /write @ as %40 and \/ as %2F/,
  'postgres://ann:SEC@RE/T?x=y@db/app': /write @ as %40/,
  'postgres://ann:SECRET%@db/app': /write % itself as %25/,
  'postgres://ann:SECRET%00@db/app': /write % itself as %25/,
  'postgres://ann:SECRET%ff@db/app': /write % itself as %25/,
  'postgres://ann:SECRET/app': /ports from 1 to 65535/,
  'postgres://db:0/app': /ports from 1 to 65535/,
  'postgres://db/app?password=a&SECRET': /name=value/,
  'postgres://db/app?password=a&SECRET=b': /must not have options other than host, port/,
  'postgres://a,b,c/app?port=1,2': /one port, or as many as hosts/,
  'postgres://db/app?sslmode=always': /there are disable, allow/,
  'postgres://db/app?sslmode=verify-ca': /an sslrootcert/,
  'postgres://db/app?sslnegotiation=direct': /at least sslmode=require/,
  'postgres://a,b/app?target_session_attrs=standby': /a node writes/,
  'postgres://a,b/app?target_session_attrs=read-only': /a node writes/,
  'postgres://db/app?channel_binding=require': /not supported/,
}
for (const [address, reason] of Object.entries(rejected))
  test(`${address} is rejected without repeating its text`, () => {
    const fault = storeFault(address) as string
    assert.match(fault, reason)
    assert.doesNotMatch(fault, /SEC|RET/)
  })
