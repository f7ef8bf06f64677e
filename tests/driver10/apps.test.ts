// Queries of two existing kinds of apps. The adapter of an authentication library keeps users, sessions and accounts. A
// shop, as in the samples of the drivers, has computed fields that read indexes, and functions that abort.

import assert from 'node:assert/strict'
import {
  type Client,
  type DocumentT,
  fql,
  NullDocument,
  type Page,
  type QueryRuntimeError,
  type ServiceError,
  TimeStub,
} from 'fauna'
import { type App, driver10Tests } from './app.ts'
import { authenticationSchema, shop } from './app-schemas.ts'

const driverTest = driver10Tests()

async function push(app: App, files: Readonly<Record<string, string>>, parameters: string): Promise<void> {
  const body = new FormData()
  for (const [name, text] of Object.entries(files)) body.append(name, new Blob([text]))
  const response = await fetch(`${app.server.url}/schema/1/update?${parameters}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.secret}` },
    body,
  })
  assert.equal(response.status, 200, await response.text())
}

// ---------------------------------------------------------------------------------------- authentication

type User = {
  readonly email: string
  readonly name: string | null
  readonly emailVerified: TimeStub | null
}

driverTest('all requests of an authentication adapter are accepted', async app => {
  const names = { 'auth.fsl': authenticationSchema(''), 'custom.fsl': authenticationSchema('Custom') }
  await push(app, names, 'force=true')
  const client = app.client()
  for (const prefix of ['', 'Custom']) await keepsUsers(client, prefix)
})

async function keepsUsers(client: Client, prefix: string): Promise<void> {
  const collection = (name: string) => fql`Collection(${prefix + name})`
  const verified = TimeStub.fromDate(new Date('2025-01-02T03:04:05.678Z'))
  const given = { email: 'a@b.test', name: null, emailVerified: verified }
  const { data: user } = await client.query<DocumentT<User>>(fql`${collection('User')}.create(${given})`)
  assert.deepEqual([user.email, user.emailVerified?.isoString], ['a@b.test', '2025-01-02T03:04:05.678Z'])
  const { data: same } = await client.query<DocumentT<User>>(fql`${collection('User')}.byId(${user.id})`)
  assert.equal(same.email, 'a@b.test')
  const { data: missing } = await client.query(fql`${collection('User')}.byId("404")`)
  assert.ok(missing instanceof NullDocument)
  const byEmail = (email: string) =>
    client.query<DocumentT<User> | null>(fql`${collection('User')}.byEmail(${email}).first()`)
  assert.equal((await byEmail('a@b.test')).data?.id, user.id)
  assert.equal((await byEmail('nobody@b.test')).data, null)
  await assert.rejects(
    client.query(fql`${collection('User')}.create(${given})`),
    (error: ServiceError) => error.code === 'constraint_failure',
  )
  const account = { userId: user.id, provider: 'p', providerAccountId: '7', expires_at: 123 }
  await client.query(fql`${collection('Account')}.create(${account})`)
  const { data: owner } = await client.query<DocumentT<User>>(fql`
    let account = ${collection('Account')}.byProviderAndProviderAccountId('p', '7').first()
    if (account != null) {
      ${collection('User')}.byId(account.userId)
    } else {
      null
    }
  `)
  assert.equal(owner.id, user.id)
  const expires = TimeStub.fromDate(new Date('2030-01-01T00:00:00Z'))
  const session = { userId: user.id, sessionToken: 't', expires }
  await client.query(fql`${collection('Session')}.create(${session})`)
  const { data: both } = await client.query<[DocumentT<User>, DocumentT<{ expires: TimeStub }>]>(fql`
    let session = ${collection('Session')}.bySessionToken('t').first()
    if (session != null) {
      let user = ${collection('User')}.byId(session.userId)
      if (user != null) [user, session] else null
    } else {
      null
    }
  `)
  assert.deepEqual([both[0].email, both[1].expires.isoString], ['a@b.test', '2030-01-01T00:00:00Z'])
  const { data: renamed } = await client.query<DocumentT<User>>(
    fql`${collection('User')}.byId(${user.id})!.update(${{ name: 'Ada' }})`,
  )
  assert.equal(renamed.name, 'Ada')
  await client.query(
    fql`${collection('VerificationToken')}.create(${{ identifier: 'i', token: 'k', expires }})`,
  )
  const use = fql`
    let token = ${collection('VerificationToken')}.byIdentifierAndToken('i', 'k').first()
    if (token != null) token!.delete()
    token
  `
  await client.query(use)
  assert.equal((await client.query(use)).data, null)
  await client.query(fql`
    ${collection('Session')}.byUserId(${user.id}).forEach(x => x.delete())
    ${collection('Account')}.byUserId(${user.id}).forEach(x => x.delete())
    ${collection('User')}.byId(${user.id})!.delete()
  `)
  const { data: left } = await client.query<number[]>(fql`
    [${collection('User')}.all().count(), ${collection('Session')}.all().count(), ${collection('Account')}.all().count()]
  `)
  assert.deepEqual(left, [0, 0, 0])
}

// ---------------------------------------------------------------------------------------------------- shop

type Order = {
  readonly status: string
  readonly total: number
}

driverTest(
  'a shop with computed sets, checks that count documents, and functions works as its schema says',
  async app => {
    await push(app, shop, 'staged=false')
    const { data: secret } = await app.client().query<string>(fql`Key.create({ role: 'server' }).secret`)
    const client = app.client({ secret })
    const { data: ids } = await client.query<{ customer: string; lamp: string; book: string }>(fql`
    let home = Category.create({ name: 'home' })
    let lamp = Product.create({ name: 'lamp', price: 20, stock: 5, category: home })
    let book = Product.create({ name: 'book', price: 7, stock: 1, category: home })
    let address = { street: 's', city: 'c', postalCode: 'p' }
    let customer = Customer.create({ name: 'Ada', email: 'a@b.test', address: address })
    { customer: customer.id, lamp: lamp.id, book: book.id }
  `)
    const { customer } = ids
    assert.equal((await client.query(fql`Customer.byId(${customer})!.cart`)).data, null)
    await client.query(fql`putInCart(${customer}, ${ids.lamp}, 1)`)
    await client.query(fql`putInCart(${customer}, ${ids.lamp}, 2)`)
    await client.query(fql`putInCart(${customer}, ${ids.book}, 1)`)
    const aborted = (query: ReturnType<typeof fql>, reason: string) =>
      assert.rejects(
        client.query(query),
        (error: QueryRuntimeError) => error.code === 'abort' && JSON.stringify(error).includes(reason),
      )
    await aborted(fql`putInCart(${customer}, ${ids.book}, 2)`, 'requested quantity')
    await aborted(fql`putInCart(${customer}, '404', 2)`, 'does not exist')
    const cart = fql`Customer.byId(${customer})!.cart { id, status, total, items { quantity, product { name } } }`
    const { data: before } = await client.query<Order & { id: string; items: Page<{ quantity: number }> }>(
      cart,
    )
    assert.deepEqual([before.status, before.total], ['cart', 47])
    assert.deepEqual(before.items.data.map(({ quantity }) => quantity).toSorted(), [1, 2])
    await assert.rejects(
      client.query(
        fql`Order.create({ customer: Customer.byId(${customer}), status: 'cart', createdAt: Time.now(), payment: {} })`,
      ),
      (error: ServiceError) => error.code === 'constraint_failure',
    )
    await assert.rejects(
      client.query(fql`Order.byId(${before.id})!.update({ status: 'lost' })`),
      (error: ServiceError) => error.code === 'constraint_failure',
    )
    const payment = { card: 'none' }
    await aborted(fql`checkout(${before.id}, 'shipped', ${payment})`, 'other than processing')
    await client.query(fql`checkout(${before.id}, 'processing', ${payment})`)
    const { data: after } = await client.query(fql`[
    Customer.byId(${customer})!.cart,
    Customer.byId(${customer})!.orders.map(order => order.status).toArray(),
    Category.all().first()!.products.map(.stock).toArray().order(),
    Product.sortedByPrice().map(.name).toArray(),
  ]`)
    assert.deepEqual(after, [null, ['processing'], [0, 3], ['lamp', 'book']])
    const { data: stored } = await client.query<Page<{ name: string }>>(
      fql`Customer.byEmail('a@b.test').map(each => each { name, address, orders { payment } })`,
    )
    assert.deepEqual(JSON.parse(JSON.stringify(stored.data)), [
      {
        name: 'Ada',
        address: { street: 's', city: 'c', postalCode: 'p' },
        orders: { data: [{ payment }] },
      },
    ])
  },
)
