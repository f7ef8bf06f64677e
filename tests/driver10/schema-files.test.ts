// Schema files with the constructs of known apps and adapters, and their queries through the driver `fauna`.

import assert from 'node:assert/strict'
import { ConstraintFailureError, type DocumentT, fql, Module, NullDocument, TimeStub } from 'fauna'
import { type App, driver10Tests } from './app.ts'

const test = driver10Tests()

/** The fields of the tests' documents. */
type Login = DocumentT<{ email: string; accountId: string; image: string }>

async function push(app: App, files: Readonly<Record<string, string>>): Promise<void> {
  const body = new FormData()
  for (const [name, text] of Object.entries(files)) body.append(name, new Blob([text]))
  const url = new URL('/schema/1/update?force=true', app.server.url)
  const headers = { authorization: `Bearer ${app.secret}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  assert.equal(response.status, 200, await response.text())
}

test('an adapter for logins has collections without fields, and two collections in a file', async app => {
  await push(app, {
    'logins.fsl': `collection Person {
    unique [.email]
    index byEmail {
        terms [.email]
    }
}
collection Login {
    index byPerson { terms [.personId] }
    index byProviderAndAccount { terms [.provider, .accountId] }
    unique [.provider, .data.accountId]
}
`,
  })
  const client = app.client()
  const run = async <T>(query: ReturnType<typeof fql>) => (await client.query(query)).data as T
  const person = await run<Login>(
    fql`Collection(${'Person'}).create(${{ email: 'a@b.example', seen: TimeStub.from('2026-01-01T00:00:00Z'), image: null }})`,
  )
  assert.equal(person.email, 'a@b.example')
  assert.ok((await run(fql`Collection(${'Person'}).byId(${'404'})`)) instanceof NullDocument)
  assert.equal(await run(fql`Person.byEmail(${'nobody'}).first()`), null)
  const collection = new Module('Login')
  for (const accountId of ['1', '2']) {
    await run(fql`${collection}.create(${{ provider: 'mail', accountId, personId: person.id }})`)
  }
  const both = fql`
    let login = Login.byProviderAndAccount(${'mail'}, ${'2'}).first()
    if (login != null) {
      [login, Person.byId(login!.personId)]
    } else {
      null
    }`
  const [login, owner] = await run<[Login, Login]>(both)
  assert.deepEqual([login.accountId, owner.id], ['2', person.id])
  const changed = fql`Person.byId(${person.id})!.update(${{ image: 'x.png' }})`
  assert.equal((await run<Login>(changed)).image, 'x.png')
  await run(fql`Login.byPerson(${person.id}).forEach(login => login.delete())`)
  assert.equal(await run(fql`Login.all().count()`), 0)
  await assert.rejects(run(fql`Person.create({ email: ${'a@b.example'} })`), /unique/)
})

test('a shop has references, nested and computed fields, checks that read, and roles', async app => {
  await push(app, {
    'collections.fsl': `// Who buys.
collection Buyer {
  name: String
  email: String
  address: {
    street: String
    city: String,
    country: String
  }

  // The current basket.
  compute basket: Purchase? = (buyer => Purchase.byBuyerAndState(buyer, 'basket').first())
  compute purchases: Set<Purchase> = ( buyer => Purchase.byBuyer(buyer) )

  unique [.email]
  index byEmail { terms [.email] }
}

collection Article {
  name: String
  price: Int
  stock: Int
  /* anything else */
  notes: { *: Any }

  index sorted {
    values [desc(.price), .name]
  }
  check stockIsValid (article => article.stock >= 0)
  check priceIsValid (article => article.price > 0)
}

collection Purchase {
  buyer: Ref<Buyer>
  state: "basket" | "ordered" | "sent"
  createdAt: Time = Time.now()

  compute lines: Set<Line> = ( purchase => Line.byPurchase(purchase) )
  compute total: Number = (purchase => purchase.lines.fold(0, (sum, line) => sum + line!.article!.price * line.count))

  index byBuyer {
    terms [.buyer]
    values [desc(.createdAt)]
  }
  index byBuyerAndState { terms [.buyer, .state] }

  check oneBasket ((purchase) => {
    Purchase.byBuyerAndState(purchase.buyer, 'basket').count() <= 1
  })
}

collection Line {
  purchase: Ref<Purchase>
  article: Ref<Article>
  count: Int

  unique [.purchase, .article]
  index byPurchase { terms [.purchase] }
}
`,
    'functions.fsl': `// Puts an article into a buyer's basket.
@role(server)
function put(buyerId, articleId, count) {
  let buyer = Buyer.byId(buyerId)!
  let article = Article.byId(articleId)
  if (article == null) {
    abort("There is no such article.")
  }
  let basket = if (buyer.basket == null) {
    Purchase.create({ buyer: buyer, state: "basket", })
  } else {
    buyer.basket!
  }
  let line = Line.byPurchase(basket).where(.article == article).first()
  if (line != null) {
    if (count > 0) {
      line!.update({ count: count })
    } else {
      line!.delete()
    }
  } else {
    Line.create({
      purchase: Purchase(basket.id),
      article: article,
      count: count,
    })
  }
  basket
}
`,
  })
  const client = app.client()
  const run = async <T>(query: ReturnType<typeof fql>) => (await client.query(query)).data as T
  const buyer = await run<Login>(fql`Buyer.create({
    name: "Ann", email: "ann@b.example", address: { street: "S", city: "C", country: "D" } })`)
  const article = await run<Login>(
    fql`Article.create({ name: "Pen", price: 3, stock: 7, notes: { red: true } })`,
  )
  await run(fql`put(${buyer.id}, ${article.id}, ${2})`)
  const basket = fql`Buyer.byEmail("ann@b.example").first() { name, basket { total, state } }`
  assert.deepEqual(await run(basket), { name: 'Ann', basket: { total: 6, state: 'basket' } })
  assert.equal(await run(fql`Buyer.byId(${buyer.id})!.purchases.count()`), 1)
  await assert.rejects(run(fql`put(${buyer.id}, "404", 1)`), /aborted/)
  await assert.rejects(run(fql`Article.byId(${article.id})!.update({ stock: -1 })`), breaks('stockIsValid'))
  const second = fql`Purchase.create({ buyer: Buyer.byId(${buyer.id}), state: "basket" })`
  await assert.rejects(run(second), breaks('oneBasket'))
})

function breaks(check: string): (error: unknown) => boolean {
  return error =>
    error instanceof ConstraintFailureError &&
    error.constraint_failures.some(({ message }) => message.includes(`check constraint \`${check}\``))
}
