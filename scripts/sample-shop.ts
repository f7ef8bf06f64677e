// Sample data: a small shop with items, customers and orders.

export type RunQuery = (expression: unknown) => Promise<unknown>

/** Data that the screenshots show. */
export interface Shop {
  readonly item: string
  readonly order: string
  /** Query in the notation of the driver. */
  readonly query: string
}

const wares = [
  ['Jasmine tea', 4.5, 'Lyon'],
  ['Brown rice', 2.2, 'Ghent'],
  ['Olive oil', 9.8, 'Porto'],
  ['Dark chocolate', 3.4, 'Ghent'],
  ['Sea salt', 1.9, 'Porto'],
  ['Green lentils', 2.7, 'Lyon'],
  ['Honey', 6.1, 'Lyon'],
  ['Oat milk', 2.1, 'Ghent'],
] as const

const buyers = ['Ann Lee', 'Bob Marin', 'Cleo Santos'] as const
const orders = 24

async function created(run: RunQuery, collection: string, fields: object): Promise<string> {
  const params = { object: fields }
  return (await run({ select: ['ref', 'id'], from: { create: { collection }, params } })) as string
}

/** Needs an empty database. */
export async function fillShop(run: RunQuery): Promise<Shop> {
  await run({ create_collection: { object: { name: 'items' } } })
  await run({ create_collection: { object: { name: 'customers' } } })
  await run({ create_collection: { object: { name: 'orders', history_days: 365 } } })
  await makeSchema(run)
  const items: string[] = []
  for (const [name, price, city] of wares) {
    const supplier = { object: { city } }
    items.push(
      await created(run, 'items', { data: { object: { name, price, stock: items.length * 12, supplier } } }),
    )
  }
  const customers: string[] = []
  for (const name of buyers) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.org`
    const credentials = { object: { password: 'correct horse' } }
    customers.push(await created(run, 'customers', { data: { object: { name, email } }, credentials }))
  }
  let order = ''
  for (let at = 0; at < orders; at++) {
    const item = { ref: { collection: 'items' }, id: items[at % items.length] }
    const customer = { ref: { collection: 'customers' }, id: customers[at % customers.length] }
    const lines = [{ object: { item, amount: (at % 4) + 1 } }]
    order = await created(run, 'orders', {
      data: { object: { customer, total: 12.5 + at, placed: { now: null }, lines } },
    })
  }
  const item = { ref: { collection: 'items' }, id: items[0] }
  for (const price of [4.8, 5.2])
    await run({ update: item, params: { object: { data: { object: { price } } } } })
  const customer = { ref: { collection: 'customers' }, id: customers[0] }
  await run({ login: customer, params: { object: { password: 'correct horse' } } })
  return {
    item: items[0] as string,
    order,
    query:
      'Map(\n  Paginate(Match(Index("items_by_price")), { size: 3 }),\n  Lambda(["price", "ref"], Get(Var("ref")))\n)',
  }
}

async function makeSchema(run: RunQuery): Promise<void> {
  await run({
    create_index: {
      object: {
        name: 'items_by_price',
        source: { collection: 'items' },
        values: [{ object: { field: ['data', 'price'] } }, { object: { field: ['ref'] } }],
      },
    },
  })
  await run({
    create_index: {
      object: {
        name: 'customers_by_email',
        source: { collection: 'customers' },
        terms: [{ object: { field: ['data', 'email'] } }],
        unique: true,
      },
    },
  })
  const isOwn = {
    query: {
      lambda: 'ref',
      expr: {
        equals: [{ current_identity: null }, { select: ['data', 'customer'], from: { get: { var: 'ref' } } }],
      },
    },
  }
  const privilege = (resource: object, actions: object) => ({
    object: { resource, actions: { object: actions } },
  })
  await run({
    create_role: {
      object: {
        name: 'shopper',
        privileges: [
          privilege({ collection: 'items' }, { read: true }),
          privilege({ collection: 'orders' }, { read: isOwn, create: true }),
          privilege({ index: 'items_by_price' }, { read: true }),
        ],
        membership: [{ object: { resource: { collection: 'customers' } } }],
      },
    },
  })
}
