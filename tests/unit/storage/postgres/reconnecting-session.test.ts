// A connection that is opened on demand: callers share it, and get errors after it was closed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailableError } from '../../../../src/storage/kv/store-errors.ts'
import type { PostgresSession } from '../../../../src/storage/postgres/postgres-session.ts'
import { ReconnectingSession } from '../../../../src/storage/postgres/reconnecting-session.ts'

class FakeSession implements Pick<PostgresSession, 'close' | 'isSound'> {
  isSound = true

  close(): void {
    this.isSound = false
  }
}

test('callers share a connection, and get another one after a failure', async () => {
  const sessions = new ReconnectingSession(async () => new FakeSession() as unknown as PostgresSession)
  const [first, second] = await Promise.all([sessions.connected(), sessions.connected()])
  assert.equal(first, second)
  sessions.drop()
  assert.notEqual(await sessions.connected(), first)
})

test('a connection that is closed while it is opened rejects, and is closed', async () => {
  const opening = Promise.withResolvers<PostgresSession>()
  const sessions = new ReconnectingSession(() => opening.promise)
  const connected = sessions.connected()
  sessions.close()
  const session = new FakeSession()
  opening.resolve(session as unknown as PostgresSession)
  await assert.rejects(connected, StoreUnavailableError)
  assert.equal(session.isSound, false)
  await assert.rejects(sessions.connected(), StoreUnavailableError)
})
