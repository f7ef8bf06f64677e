// Two realistic apps that use the client: the adapter of an authentication library, and a shop with computed sets,
// checks that count, and functions that abort.

import {
  Client,
  type DocumentOf,
  fql,
  NullDocument,
  type Page,
  ServiceError,
  Time,
} from '../../client/src/index.ts'
import { authenticationSchema, shop } from '../driver10/app-schemas.ts'
import { eventFlows } from './event-flows.ts'
import { documentFlows, errorFlows, type Flow, schemaFlows, valueFlows } from './flows.ts'

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => {
      if (error instanceof ServiceError) return error.code
      throw error
    },
  )
}

type User = DocumentOf<{ email: string; name?: string; emailVerified: Time }>

async function keepsUsers(client: Client, prefix: string): Promise<unknown> {
  const collection = (name: string) => fql`Collection(${prefix + name})`
  const run = async <Data>(query: ReturnType<typeof fql>) => (await client.query<Data>(query)).data
  const users = collection('User')
  const verified = Time.fromDate(new Date('2025-01-02T03:04:05.678Z'))
  const given = { email: 'a@b.test', name: null, emailVerified: verified }
  const user = await run<User>(fql`${users}.create(${given})`)
  const byEmail = (email: string) => run<User | null>(fql`${users}.byEmail(${email}).first()`)
  const account = { userId: user.id, provider: 'p', providerAccountId: '7', expires_at: 123 }
  await run(fql`${collection('Account')}.create(${account})`)
  const owner = await run<User>(fql`
    let account = ${collection('Account')}.byProviderAndProviderAccountId('p', '7').first()
    if (account != null) {
      ${users}.byId(account.userId)
    } else {
      null
    }
  `)
  const expires = new Date('2030-01-01T00:00:00Z')
  await run(fql`${collection('Session')}.create(${{ userId: user.id, sessionToken: 't', expires }})`)
  const both = await run<[User, DocumentOf<{ expires: Time }>]>(fql`
    let session = ${collection('Session')}.bySessionToken('t').first()!
    [${users}.byId(session.userId), session]
  `)
  const renamed = await run<User>(fql`${users}.byId(${user.id})!.update(${{ name: 'Ada' }})`)
  await run(fql`
    ${collection('Session')}.byUserId(${user.id}).forEach(x => x.delete())
    ${users}.byId(${user.id})!.delete()
  `)
  return [
    ...[user.email, user.emailVerified, (await run(fql`${users}.byId("404")`)) instanceof NullDocument],
    ...[await byEmail('nobody@b.test'), await codeOf(run(fql`${collection('Account')}.create(${account})`))],
    ...[owner.id === user.id, both[0].email, both[1].expires, renamed.name],
    await run(fql`[${users}.all().count(), ${collection('Session')}.all().count()]`),
  ]
}

const keptUsers = [
  ...['a@b.test', '2025-01-02T03:04:05.678Z', true],
  ...[null, 'constraint_failure'],
  ...[true, 'a@b.test', '2030-01-01T00:00:00Z', 'Ada'],
  [0, 0],
]

type Cart = { readonly id: string; readonly total: number; readonly items: Page<{ quantity: number }> }

async function sells(client: Client): Promise<unknown> {
  const run = async <Data>(query: ReturnType<typeof fql>) => (await client.query<Data>(query)).data
  const ids = await run<{ customer: string; lamp: string; book: string }>(fql`
    let home = Category.create({ name: 'home' })
    let lamp = Product.create({ name: 'lamp', price: 20, stock: 5, category: home })
    let book = Product.create({ name: 'book', price: 7, stock: 1, category: home })
    let address = { street: 's', city: 'c', postalCode: 'p' }
    let customer = Customer.create({ name: 'Ada', email: 'a@b.test', address: address })
    { customer: customer.id, lamp: lamp.id, book: book.id }
  `)
  const { customer, lamp, book } = ids
  for (const [product, quantity] of [
    [lamp, 1],
    [lamp, 2],
    [book, 1],
  ] as const)
    await run(fql`putInCart(${customer}, ${product}, ${quantity})`)
  const cart = await run<Cart>(
    fql`Customer.byId(${customer})!.cart { id, status, total, items { quantity, product { name } } }`,
  )
  const rejected = [
    await codeOf(run(fql`putInCart(${customer}, ${book}, 2)`)),
    await codeOf(client.query(fql`Order.byId(${cart.id})!.update({ status: 'lost' })`, { typecheck: false })),
    await codeOf(run(fql`checkout(${cart.id}, 'shipped', {})`)),
  ]
  await run(fql`checkout(${cart.id}, 'processing', ${{ card: 'none' }})`)
  const after = await run(fql`[
    Customer.byId(${customer})!.cart,
    Customer.byId(${customer})!.orders.map(order => order.status).toArray(),
    Category.all().first()!.products.map(.stock).toArray().order(),
    Product.sortedByPrice().map(.name).toArray(),
  ]`)
  const quantities = cart.items.data.map(({ quantity }) => quantity)
  return [cart.total, quantities.reduce((a, b) => a + b), rejected, after]
}

const appFlows: Readonly<Record<string, Flow>> = {
  'the adapter of an authentication library': {
    run: async client => {
      await client.pushSchema({
        'auth.fsl': authenticationSchema(''),
        'custom.fsl': authenticationSchema('Custom'),
      })
      return [await keepsUsers(client, ''), await keepsUsers(client, 'Custom')]
    },
    expected: [keptUsers, keptUsers],
  },
  'a shop with computed sets, checks that count, and functions': {
    run: async (client, config) => {
      await client.pushSchema(shop)
      const { data: secret } = await client.query<string>(fql`Key.create({ role: 'server' }).secret`)
      return sells(new Client({ ...config, secret }))
    },
    expected: [
      ...[47, 3],
      ['abort', 'constraint_failure', 'abort'],
      [null, ['processing'], [0, 3], ['lamp', 'book']],
    ],
  },
}

export const flows: Readonly<Record<string, Flow>> = {
  ...valueFlows,
  ...documentFlows,
  ...errorFlows,
  ...eventFlows,
  ...schemaFlows,
  ...appFlows,
}
