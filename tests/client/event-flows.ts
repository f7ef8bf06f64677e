// Typical use of feeds and streams with the client, like `flows.ts`.

import {
  AuthenticationError,
  type ChangeEvent,
  EventError,
  type EventSourceToken,
  fql,
} from '../../client/src/index.ts'
import { add, errorOf, type Flow, type Item, items } from './flows.ts'

const shown = ({ type, data }: ChangeEvent<Item>) => `${type} ${data.price}`

/** The first events of an endless series. */
async function take<Each>(count: number, each: AsyncIterable<Each>): Promise<Each[]> {
  const list: Each[] = []
  for await (const one of each) {
    list.push(one)
    if (list.length === count) break
  }
  return list
}

const source = fql`items.all().eventSource()`

export const eventFlows: Readonly<Record<string, Flow>> = {
  'a feed is read page by page, and continues from a cursor': {
    run: async client => {
      await client.query(items)
      const { data: token } = await client.query<EventSourceToken<Item>>(source)
      for (let price = 1; price <= 5; price++) await add(client, price)
      const pages = await Array.fromAsync(client.feed(token, { pageSize: 2 }))
      const cursor = pages.at(-1)?.cursor as string
      await client.query(fql`items.where(.price > 4).forEach(.delete())`)
      const rest = await Array.fromAsync(client.feed<Item>(token.token, { cursor }))
      return [
        pages.map(({ events }) => events.map(({ data }) => data.price)),
        pages.map(({ hasNext }) => hasNext),
        rest.flatMap(({ events }) => events.map(shown)),
      ]
    },
    expected: [[[1, 2], [3, 4], [5]], [true, true, false], ['remove 5']],
  },
  'a feed can be opened with the query that returns its source': {
    run: async client => {
      await client.query(items)
      const { info } = await add(client, 1)
      await add(client, 2)
      const pages = await Array.fromAsync(client.feed<Item>(source, { startTs: info.txnTs as number }))
      const none = await Array.fromAsync(client.feed(fql`1`)).catch((error: Error) => error.name)
      return [pages.flatMap(({ events }) => events.map(shown)), none]
    },
    expected: [['add 2'], 'TypeError'],
  },
  'follow polls a feed for changes': {
    run: async client => {
      await client.query(items)
      const { data: token } = await client.query<EventSourceToken<Item>>(source)
      await add(client, 1)
      const seen: string[] = []
      for await (const event of client.follow(token, { everyMs: 10 })) {
        seen.push(shown(event))
        if (event.type === 'add') await client.query(fql`items.all().forEach(.update({ price: 7 }))`)
        else break
      }
      return seen
    },
    expected: ['add 1', 'update 7'],
  },
  'a stream sends changes, and another stream continues after its last event': {
    run: async client => {
      await client.query(items)
      const { data: token } = await client.query<EventSourceToken<Item>>(source)
      await add(client, 1)
      const seen: string[] = []
      let cursor = ''
      for await (const event of client.stream(token)) {
        seen.push(shown(event))
        cursor = event.cursor
        if (event.type === 'add') await client.query(fql`items.all().forEach(.update({ price: 7 }))`)
        else break
      }
      await add(client, 8)
      const [next] = await take(1, client.stream<Item>(token, { cursor }))
      return [seen, next && shown(next)]
    },
    expected: [['add 1', 'update 7'], 'add 8'],
  },
  'a stream with a large backlog receives all events': {
    run: async client => {
      await client.query(items)
      const { data: token } = await client.query<EventSourceToken<Item>>(source)
      // Many changes in one transaction, so that the stream also continues within a transaction.
      const many = fql`Set.sequence(0, 150).forEach(n => items.create({ name: 'item', price: n }))`
      for (const _ of [1, 2]) await client.query(many)
      const events = await take(300, client.stream(token))
      const written = events.map(({ txnTs, data }) => `${txnTs} ${data.price}`)
      return new Set(written).size === 300
    },
    expected: true,
  },
  'the error of an event is thrown, and a feed continues after it': {
    run: async client => {
      await client.query(items)
      const { data: token } = await client.query<EventSourceToken<number>>(
        fql`items.all().eventSource().map(i => 8 / i.price)`,
      )
      for (const price of [4, 0, 2]) await add(client, price)
      const failureOf = (each: AsyncIterable<unknown>) =>
        Array.fromAsync(each).catch((error: EventError) => error)
      const failed = (await failureOf(client.feed(token))) as EventError
      const rest = await Array.fromAsync(client.feed(token, { cursor: failed.cursor as string }))
      const streamed = (await failureOf(client.stream(token))) as EventError
      return [
        ...[failed instanceof EventError, failed.code, failed.cause.name],
        rest.flatMap(({ events }) => events.map(({ data }) => data)),
        ...[streamed instanceof EventError, streamed.code],
      ]
    },
    expected: [true, 'divide_by_zero', 'QueryRuntimeError', [4], true, 'divide_by_zero'],
  },
  'a stream ends with an authentication error after a logout': {
    run: async client => {
      await client.query(items)
      await client.query(fql`Role.create({
        name: 'user', membership: [{ resource: 'items' }],
        privileges: [
          { resource: 'items', actions: { read: true } }, { resource: 'Token', actions: { read: true, delete: true } }
        ]
      })`)
      const { data: me } = await client.query<Item>(fql`items.create({ name: 'me', price: 1 })`)
      const { client: user } = await client.login(fql`Token.create({ document: ${me} })`)
      const { data: token } = await user.query<EventSourceToken<Item>>(source)
      await add(client, 2)
      const seen: unknown[] = []
      const read = async () => {
        for await (const { data } of user.stream(token)) {
          seen.push(data.price)
          await user.logout()
        }
      }
      const error = await errorOf(read())
      return [seen, error instanceof AuthenticationError, error.code]
    },
    expected: [[2], true, 'permission_loss'],
  },
  'an aborted signal ends every wait': {
    run: async client => {
      await client.query(items)
      const controller = new AbortController()
      const stopped = (promise: Promise<unknown>) => promise.catch((error: Error) => error.message)
      const { signal } = controller
      const followed = stopped(Array.fromAsync(client.follow(source, { signal })))
      const streamed = stopped(Array.fromAsync(client.stream(source, { signal })))
      await client.query(fql`1`)
      controller.abort(new Error('enough'))
      return [await followed, await streamed, await stopped(client.query(fql`1`, { signal }))]
    },
    expected: ['enough', 'enough', 'enough'],
  },
}
