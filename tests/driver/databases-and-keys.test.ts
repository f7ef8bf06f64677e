// The first steps of an application: databases, nested databases, and keys of every role.

import assert from 'node:assert/strict'
import { assertFails, driverTests, errors, type Page, q, type Ref, values, type WithSecret } from './app.ts'

const driverTest = driverTests()

driverTest('the root secret creates and lists databases', async app => {
  const root = app.root()
  const name = `${app.name}_second`
  const made = await root.query<{ name: string; ref: Ref; ts: number; global_id: string }>(
    q.CreateDatabase({ name, data: { plan: 'free' } }),
  )
  assert.equal(made.name, name)
  assert.deepEqual(made.ref, new values.Ref(name, values.Native.DATABASES))
  assert.equal(typeof made.ts, 'number')
  assert.match(made.global_id, /^[a-z0-9]{13}$/)
  assert.equal(await root.query(q.Exists(q.Database(name))), true)
  const page = await root.query<Page<Ref>>(q.Paginate(q.Databases()))
  assert.ok(page.data.some(ref => ref.id === name))

  await assertFails(root.query(q.CreateDatabase({ name })), errors.BadRequest, {
    code: 'instance already exists',
    position: ['create_database'],
  })
  await root.query(q.Delete(q.Database(name)))
  assert.equal(await root.query(q.Exists(q.Database(name))), false)
})

driverTest('databases can be nested, and each has its own data', async app => {
  const admin = await app.as('admin')
  await admin.query(q.CreateDatabase({ name: 'child' }))
  const childKey = await admin.query<WithSecret>(
    q.CreateKey({ database: q.Database('child'), role: 'admin' }),
  )
  const child = app.client(childKey.secret)
  await child.query(q.CreateDatabase({ name: 'grandchild' }))
  const grandchildKey = await child.query<WithSecret>(
    q.CreateKey({ database: q.Database('grandchild'), role: 'server' }),
  )
  const grandchild = app.client(grandchildKey.secret)

  await child.query(q.CreateCollection({ name: 'boats' }))
  await grandchild.query(q.CreateCollection({ name: 'planes' }))
  assert.equal(await child.query(q.Exists(q.Collection('boats'))), true)
  assert.equal(await admin.query(q.Exists(q.Collection('boats'))), false)
  assert.equal(await grandchild.query(q.Exists(q.Collection('boats'))), false)
  assert.equal(await child.query(q.Exists(q.Database('grandchild'))), true)
  assert.equal(await admin.query(q.Exists(q.Database('grandchild'))), false)
  assert.equal(await admin.query(q.Exists(q.Database('grandchild', q.Database('child')))), true)

  await admin.query(q.Delete(q.Database('child')))
  await assertFails(child.query(1), errors.Unauthorized, { code: 'unauthorized' })
  await assertFails(grandchild.query(1), errors.Unauthorized, { code: 'unauthorized' })
})

for (const role of ['admin', 'server', 'server-readonly', 'client'] as const) {
  driverTest(`a ${role} key shows its secret once`, async app => {
    const admin = await app.as('admin')
    const key = await admin.query<WithSecret & { hashed_secret: string; role: string }>(
      q.CreateKey({ role, data: { name: `the ${role} key` } }),
    )
    assert.equal(key.role, role)
    assert.match(key.secret, /^fn[\w-]{38}$/)
    assert.match(key.hashed_secret, /^\$2[ab]\$/)
    assert.deepEqual(key.data, { name: `the ${role} key` })

    const { secret, ...rest } = key
    assert.deepEqual(await admin.query(q.Get(key.ref)), rest)
    assert.equal(await app.client(secret).query(q.Add(1, 2)), 3)

    await admin.query(q.Delete(key.ref))
    await assertFails(app.client(secret).query(q.Add(1, 2)), errors.Unauthorized, { code: 'unauthorized' })
  })
}

driverTest('a key for a child database is stored in the parent and acts in the child', async app => {
  const root = app.root()
  const key = await root.query<WithSecret & { database: Ref }>(
    q.CreateKey({ database: q.Database(app.name), role: 'server' }),
  )
  assert.deepEqual(key.database, new values.Ref(app.name, values.Native.DATABASES))
  await app.client(key.secret).query(q.CreateCollection({ name: 'things' }))
  const admin = await app.as('admin')
  assert.equal(await admin.query(q.Exists(q.Collection('things'))), true)
  assert.equal(await root.query(q.Exists(q.Collection('things'))), false)
  assert.equal(await root.query(q.Exists(key.ref)), true)
})

driverTest('each role has exactly its rights', async app => {
  const admin = await app.as('admin')
  const server = await app.as('server')
  const reader = await app.as('server-readonly')
  const client = await app.as('client')
  const denied = { code: 'permission denied', description: 'Insufficient privileges to perform the action.' }

  await admin.query(q.CreateCollection({ name: 'things' }))
  const thing = await server.query<{ ref: Ref }>(q.Create(q.Collection('things'), { data: { n: 1 } }))

  await assertFails(server.query(q.CreateDatabase({ name: 'x' })), errors.PermissionDenied, denied)
  await assertFails(server.query(q.CreateKey({ role: 'client' })), errors.PermissionDenied, denied)
  assert.deepEqual(await reader.query(q.Select(['data', 'n'], q.Get(thing.ref))), 1)
  await assertFails(reader.query(q.Create(q.Collection('things'))), errors.PermissionDenied, denied)
  await assertFails(reader.query(q.Delete(thing.ref)), errors.PermissionDenied, denied)
  await assertFails(client.query(q.Get(thing.ref)), errors.PermissionDenied, { ...denied, position: [] })
  await assertFails(client.query(q.Create(q.Collection('things'))), errors.PermissionDenied, denied)
  await assertFails(client.query(q.CreateCollection({ name: 'more' })), errors.PermissionDenied, denied)
  assert.equal(await client.query(q.Exists(thing.ref)), false)
})

driverTest('a wrong or missing secret is unauthorized', async app => {
  const unauthorized = { code: 'unauthorized' }
  await assertFails(app.client('fnAwrong').query(1), errors.Unauthorized, unauthorized)
  await assertFails(app.client(`${app.server.rootSecret}x`).query(1), errors.Unauthorized, unauthorized)
  const key = await app
    .root()
    .query<WithSecret>(q.CreateKey({ database: q.Database(app.name), role: 'admin' }))
  const last = key.secret.at(-2) === 'A' ? 'B' : 'A'
  const changed = `${key.secret.slice(0, -2)}${last}${key.secret.at(-1)}`
  await assertFails(app.client(changed).query(1), errors.Unauthorized, unauthorized)
  assert.equal(await app.client(key.secret).query(1), 1)
})

driverTest('a key needs a known role', async app => {
  const admin = await app.as('admin')
  await assertFails(admin.query(q.CreateKey({ role: 'superuser' })), errors.BadRequest, {
    code: 'validation failed',
    position: ['create_key'],
    failures: [{ field: ['role'], code: 'validation failure' }],
  })
  await assertFails(admin.query(q.CreateKey({})), errors.BadRequest, {
    code: 'validation failed',
    failures: [{ field: ['role'], code: 'value required' }],
  })
})
