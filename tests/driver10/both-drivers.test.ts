// An application during its migration from version 4 to version 10, with both drivers on one database. One driver
// writes orders and the other pages them, one role has predicates in both languages, and functions call each other.
// Abort values reach callers in both languages.

import assert from 'node:assert/strict'
import { AbortError, type Client, type DocumentT, fql, type Page, ServiceError } from 'fauna'
import faunadb from 'faunadb'
import { type App, driver10Tests } from './app.ts'

const driverTest = driver10Tests()
const { query: q } = faunadb

type Order = DocumentT<{ customer: string; total: number; state: string; shipped?: boolean }>

/** Runs `body` with a client of each driver. Both clients have the same secret. */
async function withBoth(
  app: App,
  secret: string,
  body: (old: faunadb.Client, present: Client) => Promise<void>,
): Promise<void> {
  const { hostname, port } = new URL(app.server.url)
  const old = new faunadb.Client({ scheme: 'http', domain: hostname, port: Number(port), secret })
  try {
    await body(old, app.client({ secret }))
  } finally {
    await old.close()
  }
}

async function prepared(old: faunadb.Client, present: Client): Promise<void> {
  await present.query(fql`Collection.create({
    name: "Order",
    fields: {
      customer: { signature: "String" },
      total: { signature: "Int" },
      state: { signature: '"open" | "paid"', default: '"open"' },
      shipped: { signature: "Boolean?" },
    },
    constraints: [{ check: { name: "positive", body: "o => o.total > 0" } }],
    indexes: { byCustomer: { terms: [{ field: "customer" }], values: [{ field: "total", order: "desc" }] } },
  })`)
  await old.query(
    q.CreateIndex({
      name: 'orders_by_state',
      source: q.Collection('Order'),
      terms: [{ field: ['data', 'state'] }],
    }),
  )
}

driverTest('an order that one driver writes can be paged and changed by the other', app =>
  withBoth(app, app.secret, async (old, present) => {
    await prepared(old, present)
    for (let total = 1; total <= 25; total++) {
      await old.query(q.Create(q.Collection('Order'), { data: { customer: 'ann', total } }))
    }
    const pages: number[][] = []
    for await (const page of present.paginate<Order>(fql`Order.byCustomer("ann").pageSize(10)`)) {
      pages.push(page.map(({ total }) => total))
    }
    const descending = Array.from({ length: 25 }, (_, index) => 25 - index)
    assert.deepEqual(pages, [descending.slice(0, 10), descending.slice(10, 20), descending.slice(20)])
    const { data: first } = await present.query<Order>(fql`Order.byCustomer("ann").first()!`)
    assert.equal(first.state, 'open', 'defaults of the collection apply to writes of version 4')
    await present.query(fql`${first}.update({ state: "paid" })`)
    const paid = await old.query<{ data: { ref: faunadb.Expr; data: { total: number } }[] }>(
      q.Map(q.Paginate(q.Match(q.Index('orders_by_state'), 'paid')), q.Lambda('ref', q.Get(q.Var('ref')))),
    )
    const totals = paid.data.map(({ data }) => data.total)
    assert.deepEqual(totals, [25])
    const rejected = old.query(q.Create(q.Collection('Order'), { data: { customer: 'bob', total: -1 } }))
    await assert.rejects(rejected, { message: 'check constraint failure' })
  }),
)

driverTest('a role with a predicate in each language applies to both drivers', app =>
  withBoth(app, app.secret, async (old, present) => {
    await prepared(old, present)
    // Version 4 creates the role, and version 10 adds a privilege.
    await old.query(
      q.CreateRole({
        name: 'clerk',
        privileges: {
          resource: q.Collection('Order'),
          actions: {
            read: q.Query(
              q.Lambda('ref', q.Equals(q.Select(['data', 'customer'], q.Get(q.Var('ref'))), 'ann')),
            ),
          },
        },
      }),
    )
    await present.query(fql`Role.byName("clerk")!.update({
      privileges: { actions: { write: "(old, new) => old.total == new.total" } },
    })`)
    const ids: string[] = []
    for (const customer of ['ann', 'bob']) {
      const { data } = await present.query<Order>(fql`Order.create({ customer: ${customer}, total: 10 })`)
      ids.push(data.id)
    }
    const [own = '', other = ''] = ids
    const { data: key } = await present.query<{ secret: string }>(
      fql`Key.create({ role: "clerk" }) { secret }`,
    )
    await withBoth(app, key.secret, async (oldClerk, clerk) => {
      const { data: seen } = await clerk.query<Page<Order>>(fql`Order.all()`)
      const customers = seen.data.map(({ customer }) => customer)
      assert.deepEqual(customers, ['ann'])
      const refOf = (id: string) => q.Ref(q.Collection('Order'), id)
      await oldClerk.query(q.Get(refOf(own)))
      await assert.rejects(oldClerk.query(q.Get(refOf(other))), { message: 'permission denied' })
      await clerk.query(fql`Order.byId(${own})!.update({ shipped: true })`)
      await oldClerk.query(q.Update(refOf(own), { data: { shipped: false } }))
      const raising = { message: 'permission denied' }
      await assert.rejects(oldClerk.query(q.Update(refOf(own), { data: { total: 11 } })), raising)
      const raised = clerk.query(fql`Order.byId(${own})!.update({ total: 11 })`)
      await assert.rejects(
        raised,
        error => error instanceof ServiceError && error.code === 'permission_denied',
      )
    })
  }),
)

driverTest('functions in both languages call each other, and aborts reach the caller', app =>
  withBoth(app, app.secret, async (old, present) => {
    await prepared(old, present)
    await old.query(
      q.CreateFunction({
        name: 'discount',
        body: q.Query(
          q.Lambda(
            ['total'],
            q.If(q.LT(q.Var('total'), 1), q.Abort('no such order'), q.Divide(q.Var('total'), 2)),
          ),
        ),
      }),
    )
    await present.query(fql`Function.create({
      name: "place",
      body: <<-END
        (customer, total) => Order.create({ customer: customer, total: discount(total) }).total
      END
    })`)
    await old.query(
      q.CreateFunction({
        name: 'place_all',
        body: q.Query(
          q.Lambda(
            ['customer', 'totals'],
            q.Map(q.Var('totals'), q.Lambda('total', q.Call('place', q.Var('customer'), q.Var('total')))),
          ),
        ),
      }),
    )
    assert.deepEqual(await old.query(q.Call('place_all', 'ann', [20, 40])), [10, 20])
    const { data } = await present.query(fql`place_all("ann", [60])`)
    assert.deepEqual(data, [30])
    const count = async () => (await present.query<number>(fql`Order.all().count()`)).data
    assert.equal(await count(), 3)
    // The second order aborts the query, so the first one is not written either.
    const gaveUp = present.query(fql`place_all("ann", [20, 0])`)
    await assert.rejects(gaveUp, error => error instanceof AbortError && error.abort === 'no such order')
    const gaveUpToo = old.query(q.Call('place_all', 'ann', [20, 0]))
    await assert.rejects(gaveUpToo, error =>
      JSON.stringify((error as faunadb.errors.FaunaHTTPError).requestResult.responseContent).includes(
        'no such order',
      ),
    )
    assert.equal(await count(), 3)
  }),
)
