// The operations of the simulated clients. Each operation is a query with a rule that predicts the response from a
// plain model.

import { isDeepStrictEqual } from 'node:util'
import { type Data, type DocumentName, type ModelTransaction, Refusal } from '../support/model.ts'
import type { RandomSource } from '../support/seeded.ts'
import type { Wire } from './wire.ts'
import * as wire from './wire.ts'

/** A query with its expected result. */
export interface Operation {
  readonly name: string
  readonly query: Wire
  /** True if the response contains a new user whose id the service has chosen. */
  readonly makesDocument?: boolean
  /**
   * The expected `resource`. Throws a {@link Refusal} if the query must fail. `answer` is the actual `resource`, from
   * which ids are taken that the service has chosen.
   */
  readonly predict: (transaction: ModelTransaction, answer: unknown) => Wire
}

/** The state from which operations are generated. */
export interface Situation {
  readonly random: RandomSource
  /** The approximate time of the next query. */
  readonly now: number
  /** A time from some earlier response. */
  pastTime(): number
  /** A document whose id the service has chosen. */
  madeDocument(): DocumentName | undefined
  /** The name of an index over tags, which may not exist. */
  tagIndex(): string
  /** A name that was never used for an index over tags. */
  newTagIndex(): string
}

const second = 1_000_000
export const accounts = 4
export const openingBalance = 100
const mails = ['ann', 'ben', 'cem', 'dee']
const tags = ['red', 'green', 'blue', 'filler']
const archive = [20n, 21n, 22n]

export const account = (id: number | bigint): DocumentName => ({ collection: 'accounts', id: BigInt(id) })
export const user = (id: number | bigint): DocumentName => ({ collection: 'users', id: BigInt(id) })
export const counter: DocumentName = { collection: 'counters', id: 1n }
const note = (id: number | bigint): DocumentName => ({ collection: 'notes', id: BigInt(id) })

function found(transaction: ModelTransaction, name: DocumentName) {
  const version = transaction.get(name)
  if (!version) throw new Refusal(404, 'instance not found')
  return version
}

function merged(old: Data, patch: Data): Data {
  return Object.fromEntries(Object.entries({ ...old, ...patch }).filter(([, value]) => value !== null))
}

function put(transaction: ModelTransaction, name: DocumentName, data: Data, ttl?: number): Wire {
  return wire.shownDocument(name, transaction.put(name, merged(data, {}), ttl))
}

// Money.

function transfer({ random }: Situation): Operation {
  const from = random.below(accounts) + 1
  const to = (from % accounts) + 1
  const amount = random.below(60) + 1
  const balance = (id: number) => wire.select(['data', 'balance'], { get: wire.reference(account(id)) })
  const set = (id: number, value: Wire): Wire => ({
    update: wire.reference(account(id)),
    params: wire.dataOf({ balance: value }),
  })
  return {
    name: `transfer ${amount} from ${from} to ${to}`,
    query: {
      let: [{ from: balance(from) }, { to: balance(to) }],
      in: {
        if: { lt: [wire.variable('from'), amount] },
        // This write comes first, so that the abort has something to undo.
        then: { do: [set(to, { add: [wire.variable('to'), amount] }), { abort: 'too little' }] },
        else: [
          set(from, { subtract: [wire.variable('from'), amount] }),
          set(to, { add: [balance(to), amount] }),
        ],
      },
    },
    predict(transaction) {
      const balanceOf = (id: number) => Number(found(transaction, account(id)).data?.balance)
      if (balanceOf(from) < amount) throw new Refusal(400, 'transaction aborted')
      return [
        put(transaction, account(from), { balance: balanceOf(from) - amount }),
        put(transaction, account(to), { balance: balanceOf(to) + amount }),
      ]
    },
  }
}

function count(): Operation {
  const n = wire.select(['data', 'n'], { get: wire.reference(counter) })
  return {
    name: 'count',
    query: { update: wire.reference(counter), params: wire.dataOf({ n: { add: [n, 1] } }) },
    predict: transaction => put(transaction, counter, { n: Number(found(transaction, counter).data?.n) + 1 }),
  }
}

// Operations on users: unique mails, ids from the client or the service, rewritten histories.

function userData(random: RandomSource): Data {
  const mail = random.below(4) === 0 ? {} : { mail: random.pick(mails) }
  return { ...mail, n: random.below(5) }
}

const someUser = ({ random, madeDocument }: Situation): DocumentName =>
  (random.below(3) === 0 ? madeDocument() : undefined) ?? user(random.below(5) + 1)

function createUser({ random }: Situation): Operation {
  const name = user(random.below(5) + 1)
  const data = userData(random)
  return {
    name: `create ${name.id}`,
    query: { create: wire.reference(name), params: wire.dataOf(data) },
    predict(transaction) {
      if (transaction.get(name)) throw new Refusal(400, 'instance already exists')
      return put(transaction, name, data)
    },
  }
}

function createUserWithNewId({ random }: Situation): Operation {
  const data = userData(random)
  return {
    name: 'create with a new id',
    makesDocument: true,
    query: { create: wire.collection('users'), params: wire.dataOf(data) },
    predict(transaction, answer) {
      const made = answer as { ref?: { '@ref'?: { id?: string } } } | undefined | null
      const name = user(BigInt(made?.ref?.['@ref']?.id ?? 0))
      if (transaction.get(name)) throw new Error(`the id ${name.id} was given twice`)
      return put(transaction, name, data)
    },
  }
}

function changeUser(situation: Situation): Operation {
  const { random } = situation
  const name = someUser(situation)
  const patch = { ...userData(random), ...(random.below(4) === 0 && { mail: null }) }
  const verb = random.pick(['update', 'replace'] as const)
  return {
    name: `${verb} ${name.id}`,
    query: { [verb]: wire.reference(name), params: wire.dataOf(patch) },
    predict(transaction) {
      const { data } = found(transaction, name)
      return put(transaction, name, merged(verb === 'update' ? (data ?? {}) : {}, patch))
    },
  }
}

function deleteUser(situation: Situation): Operation {
  const name = someUser(situation)
  return {
    name: `delete ${name.id}`,
    query: { delete: wire.reference(name) },
    predict(transaction) {
      const old = wire.shownDocument(name, found(transaction, name))
      transaction.delete(name)
      return old
    },
  }
}

/** Moves a mail from its owner to another user in one query. The update must see that the mail is free again. */
function takeMail({ random }: Situation): Operation {
  const mail = random.pick(mails)
  const name = user(random.below(5) + 1)
  const owners = wire.match('by_mail', mail)
  const release = { update: wire.select(['ref'], { get: owners }), params: wire.dataOf({ mail: null }) }
  return {
    name: `give ${mail} to ${name.id}`,
    query: {
      do: [
        { if: { exists: owners }, then: release, else: null },
        { update: wire.reference(name), params: wire.dataOf({ mail }) },
      ],
    },
    predict(transaction) {
      const index = transaction.model.indexes.get('by_mail')
      const [owner] = index ? transaction.match(index, mail) : []
      if (owner) put(transaction, owner, merged(found(transaction, owner).data ?? {}, { mail: null }))
      return put(transaction, name, merged(found(transaction, name).data ?? {}, { mail }))
    },
  }
}

/** Creates two documents with the same mail in one query, which must fail. */
function createTwins({ random }: Situation): Operation {
  const mail = random.pick(mails)
  const create = {
    create: wire.collection('users'),
    params: wire.dataOf({ mail, n: wire.variable('n') }),
  }
  return {
    name: `create twins ${mail}`,
    query: { map: wire.lambda('n', create), collection: [1, 2] },
    predict() {
      throw new Refusal(400, 'instance not unique')
    },
  }
}

function rewriteHistory({ pastTime, random }: Situation): Operation {
  const name = user(random.pick(archive))
  const ts = pastTime() - random.below(3)
  const action = random.pick(['create', 'create', 'delete'] as const)
  if (random.below(3) === 0) {
    return {
      name: `remove ${action} of ${name.id} at ${ts}`,
      query: { remove: wire.reference(name), ts, action },
      predict(transaction) {
        const version = transaction.model.versionsOf(name).find(each => each.ts === ts)
        if (version && (version.data === undefined) === (action === 'delete'))
          transaction.afterwards(() => transaction.model.removeVersion(name, ts))
        return null
      },
    }
  }
  const data: Data = { mail: `archive ${name.id}`, n: random.below(5) }
  const params = action === 'create' ? { params: wire.dataOf(data) } : {}
  return {
    name: `insert ${action} of ${name.id} at ${ts}`,
    query: { insert: wire.reference(name), ts, action, ...params },
    predict(transaction) {
      const stored = action === 'create' ? data : undefined
      const old = transaction.model.versionsOf(name).find(each => each.ts === ts)
      // A version that exists already is not written again.
      if (!old || !isDeepStrictEqual(old.data, stored))
        transaction.afterwards(() => transaction.model.setVersion(name, { ts, data: stored }))
      return { ts, action, document: wire.shownReference(name), data: stored ?? null }
    },
  }
}

// Operations on notes, which have tags and may have a `ttl`.

function writeNote({ now, random }: Situation): Operation {
  const name = note(random.below(8) + 1)
  const data: Data = { tags: tags.slice(0, 3).filter(() => random.below(2) === 0), n: random.below(4) }
  const ttl = random.below(2) === 0 ? now + (random.below(20) - 1) * second : undefined
  const params = wire.dataOf(data, ttl)
  const reference = wire.reference(name)
  return {
    name: `write note ${name.id}`,
    query: {
      if: { exists: reference },
      then: { replace: reference, params },
      else: { create: reference, params },
    },
    predict: transaction => put(transaction, name, data, ttl),
  }
}

function deleteNote({ random }: Situation): Operation {
  const name = note(random.below(8) + 1)
  return {
    name: `delete note ${name.id}`,
    query: { if: { exists: wire.reference(name) }, then: { delete: wire.reference(name) }, else: 'none' },
    predict(transaction) {
      const version = transaction.get(name)
      if (!version) return 'none'
      transaction.delete(name)
      return wire.shownDocument(name, version)
    },
  }
}

// Schema.

function createTagIndex({ newTagIndex }: Situation): Operation {
  const name = newTagIndex()
  const params = {
    name,
    source: [wire.collection('notes'), wire.collection('counters')],
    terms: [wire.object({ field: ['data', 'tags'] })],
    values: [wire.object({ field: ['data', 'n'], reverse: true }), wire.object({ field: ['ref'] })],
  }
  return {
    name: `create index ${name}`,
    query: wire.select(['active'], { create_index: wire.object(params) }),
    predict(transaction) {
      const index = { sources: ['notes', 'counters'], term: 'tags', value: 'n', unique: false, active: false }
      transaction.afterwards(() => transaction.model.indexes.set(name, index))
      return false
    },
  }
}

function deleteTagIndex({ tagIndex }: Situation): Operation {
  const name = tagIndex()
  return {
    name: `delete index ${name}`,
    query: wire.select(['name'], { delete: { index: name } }),
    predict(transaction) {
      if (!transaction.model.indexes.has(name)) throw new Refusal(400, 'invalid ref')
      transaction.afterwards(() => transaction.model.indexes.delete(name))
      return name
    },
  }
}

// Reads. Each of them may also read as of a past time.

function readUser(situation: Situation): Operation {
  const { random } = situation
  const name = random.below(3) === 0 ? user(random.pick(archive)) : someUser(situation)
  const reference = wire.reference(name)
  return {
    name: `read ${name.id}`,
    query: { if: { exists: reference }, then: { get: reference }, else: null },
    predict(transaction) {
      const version = transaction.get(name)
      return version ? wire.shownDocument(name, version) : null
    },
  }
}

function readAccounts(): Operation {
  const ids = Array.from({ length: accounts }, (_, index) => index + 1)
  const balance = (id: number) => wire.select(['data', 'balance'], { get: wire.reference(account(id)) })
  return {
    name: 'read all accounts',
    query: ids.map(balance),
    predict: transaction => {
      const balances = ids.map(id => Number(found(transaction, account(id)).data?.balance))
      const sum = balances.reduce((total, each) => total + each, 0)
      if (sum !== accounts * openingBalance) throw new Error(`the model has lost money: ${sum}`)
      return balances
    },
  }
}

function readCollection({ random }: Situation): Operation {
  const name = random.pick(['users', 'notes', 'counters'])
  const size = random.below(6) + 1
  const set = { documents: wire.collection(name) }
  return {
    name: `read ${size} of ${name}`,
    query: [{ count: set }, wire.select(['data'], { paginate: set, size })],
    predict: transaction => {
      const all = transaction.documents(name)
      return [all.length, all.slice(0, size).map(wire.shownReference)]
    },
  }
}

function readByMail({ random }: Situation): Operation {
  const mail = random.below(4) === 0 ? `archive ${random.pick(archive)}` : random.pick(mails)
  return {
    name: `match ${mail}`,
    query: { paginate: wire.match('by_mail', mail) },
    predict: transaction => {
      const index = transaction.model.indexes.get('by_mail')
      return { data: index ? transaction.match(index, mail).map(wire.shownReference) : [] }
    },
  }
}

function readByTag({ random, tagIndex }: Situation): Operation {
  const name = tagIndex()
  const tag = random.pick(tags)
  return {
    name: `match ${tag} in ${name}`,
    query: wire.select(['data'], { paginate: wire.match(name, tag), size: 1000 }),
    predict(transaction, answer) {
      const index = transaction.model.indexes.get(name)
      if (!index) throw new Refusal(400, 'invalid ref')
      // The end of an index build is not predictable, but an active index never becomes inactive again.
      if (answer === undefined && !index.active) throw new Refusal(400, 'instance not found')
      index.active = true
      return transaction
        .match(index, tag)
        .map(each => [transaction.get(each)?.data?.n, wire.shownReference(each)])
    },
  }
}

function readEither({ random }: Situation): Operation {
  const [first, second] = [random.pick(mails), random.pick(mails)]
  return {
    name: `union of ${first} and ${second}`,
    query: wire.select(['data'], {
      paginate: { union: [wire.match('by_mail', first), wire.match('by_mail', second)] },
    }),
    predict: transaction => {
      const index = transaction.model.indexes.get('by_mail')
      const found = index ? [first, second].flatMap(mail => transaction.match(index, mail)) : []
      const ids = [...new Set(found.map(each => each.id))].sort((left, right) => (left < right ? -1 : 1))
      return ids.map(id => wire.shownReference(user(id)))
    },
  }
}

const reads = [readUser, readAccounts, readCollection, readByMail, readEither]

/** Several reads in one query, which must see the same state, either present or past. */
function readTogether(situation: Situation): Operation {
  const { pastTime, random } = situation
  const parts = Array.from({ length: random.below(3) + 1 }, () => random.pick(reads)(situation))
  const query = parts.map(part => part.query)
  const names = parts.map(part => part.name).join(', ')
  if (random.below(2) === 0) {
    return { name: names, query, predict: transaction => parts.map(part => part.predict(transaction, null)) }
  }
  const ts = pastTime() - random.below(2)
  return {
    name: `at ${ts}: ${names}`,
    query: { at: ts, expr: query },
    predict: transaction => transaction.at(ts, () => parts.map(part => part.predict(transaction, null))),
  }
}

// Histories.

function readHistory(situation: Situation): Operation {
  const { random } = situation
  const name = random.below(2) === 0 ? user(random.pick(archive)) : someUser(situation)
  const event = [wire.select(['ts'], wire.variable('e')), wire.select(['action'], wire.variable('e'))]
  return {
    name: `history of ${name.id}`,
    query: wire.select(['data'], {
      map: wire.lambda('e', event),
      collection: { paginate: { events: wire.reference(name) } },
    }),
    predict(transaction) {
      let wasLive = false
      return transaction.model.versionsOf(name).map(({ data, ts }) => {
        const action = data === undefined ? 'delete' : wasLive ? 'update' : 'create'
        wasLive = data !== undefined
        return [ts, action]
      })
    },
  }
}

function readSetHistory({ random }: Situation): Operation {
  const mail = random.below(3) === 0 ? `archive ${random.pick(archive)}` : random.pick(mails)
  const part = (key: string) => wire.select([key], wire.variable('e'))
  return {
    name: `history of the set ${mail}`,
    query: wire.select(['data'], {
      map: wire.lambda('e', [part('ts'), part('action'), part('document')]),
      collection: { paginate: { events: wire.match('by_mail', mail) } },
    }),
    predict: transaction => {
      const index = transaction.model.indexes.get('by_mail')
      const events = index ? transaction.matchEvents(index, mail) : []
      return events.map(({ action, document, ts }) => [ts, action, wire.shownReference(document)])
    },
  }
}

/** Operations with their relative frequencies. */
const shares: readonly (readonly [share: number, make: (situation: Situation) => Operation])[] = [
  [10, transfer],
  [4, count],
  [6, createUser],
  [3, createUserWithNewId],
  [6, changeUser],
  [4, deleteUser],
  [3, takeMail],
  [1, createTwins],
  [4, rewriteHistory],
  [6, writeNote],
  [2, deleteNote],
  [1, createTagIndex],
  [1, deleteTagIndex],
  [24, readTogether],
  [8, readByTag],
  [4, readHistory],
  [4, readSetHistory],
]

const sharesTotal = shares.reduce((total, [share]) => total + share, 0)

/** A random operation. */
export function someOperation(situation: Situation): Operation {
  let dice = situation.random.below(sharesTotal)
  for (const [share, make] of shares) {
    dice -= share
    if (dice < 0) return make(situation)
  }
  return readTogether(situation)
}
