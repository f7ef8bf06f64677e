// Typical use of the client, each as a function from a fresh database to its results. The flows run in Node and in a
// page of Chromium, so they use only the client and features of every runtime. The test compares the results with
// `expected`.

import {
  AuthenticationError,
  Client,
  ConstraintFailureError,
  type Document,
  type DocumentOf,
  DocumentRef,
  Double,
  fieldsOf,
  fql,
  InvalidRequestError,
  LocalDate,
  Module,
  NamedDocument,
  NullDocument,
  Page,
  QueryAbortedError,
  QueryCheckError,
  QueryRuntimeError,
  QueryTimeoutError,
  ServiceError,
  Time,
} from '../../client/src/index.ts'

/** A database for each flow, with an admin key. */
export interface FlowConfig {
  readonly url: string
  readonly secret: string
}

/** A flow, and its expected result as JSON values. */
export interface Flow {
  readonly run: (client: Client, config: FlowConfig) => Promise<unknown>
  readonly expected: unknown
}

export type Item = DocumentOf<{ name: string; price: number }>

export const items = fql`Collection.create({ name: 'items' })`

export async function errorOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  )
  if (error instanceof ServiceError) return error
  throw error
}

export const add = (client: Client, price: number) =>
  client.query<Item>(fql`items.create({ name: 'item', price: ${price} })`)

const echo = (client: Client, value: unknown) =>
  client.query(fql`${value as string}`).then(({ data }) => data)

/** Values that are received as they were sent. */
const values: readonly unknown[] = [
  null,
  true,
  'text with "quotes", \\ and \u{1f331}',
  0,
  -2147483648,
  2147483648,
  Number.MAX_SAFE_INTEGER,
  1.5,
  Number.MAX_VALUE,
  9223372036854775807n,
  -9223372036854775808n,
  [],
  [1, [2, ['three']]],
  {},
  { a: 1, 'b c': { d: [null, false] } },
  { '@name': 'no tag', plain: { '@x': 1 } },
  new Time('2024-01-02T03:04:05.678901Z'),
  new LocalDate('2024-02-29'),
  new Uint8Array([0, 127, 255]),
  new Module('Math'),
]

const isSame = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) ||
  (typeof a === 'object' &&
    typeof b === 'object' &&
    a?.constructor === b?.constructor &&
    JSON.stringify(Object.entries(a ?? {}), asText) === JSON.stringify(Object.entries(b ?? {}), asText))

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)

export const valueFlows: Readonly<Record<string, Flow>> = {
  'values of every type are returned unchanged': {
    run: async client => {
      const wrong: string[] = []
      for (const value of values)
        if (!isSame(await echo(client, value), value)) wrong.push(JSON.stringify(value, asText))
      return wrong
    },
    expected: [],
  },
  'values without a type of their own are returned in the type that was sent': {
    run: async client => {
      const types = await client.query<boolean[]>(
        fql`[${2} isa Int, ${new Double(2)} isa Double, ${2n} isa Long, ${-0} isa Double]`,
      )
      const bytes = (await echo(client, new Uint8Array([1, 2]).buffer)) as Uint8Array
      const large = (await echo(client, new Uint8Array(100_000).fill(7))) as Uint8Array
      const numbers = await client.query<number[]>(fql`[Math.NaN, Math.Infinity, -Math.Infinity]`)
      const date = await echo(client, new Date(0))
      return [types.data, [...bytes], large.length, large[99_999], numbers.data.map(String), String(date)]
    },
    expected: [
      [true, true, true, true],
      [1, 2],
      100_000,
      7,
      ['NaN', 'Infinity', '-Infinity'],
      '1970-01-01T00:00:00Z',
    ],
  },
  'templates nest, as queries and inside arrays and objects': {
    run: async client => {
      const run = async (query: ReturnType<typeof fql>) => (await client.query(query)).data
      const doubled = (value: number | ReturnType<typeof fql>) => fql`${value} * 2`
      const predicate = fql`n => n > ${1}`
      return [
        await run(fql`${doubled(4)} + ${doubled(fql`1 + 1`)}`),
        await run(
          fql`{ let n = ${3}; ${{ plain: 1, query: fql`n + 1`, list: [fql`n`, 'text'], gone: undefined }} }`,
        ),
        await run(fql`${'1 + 1'}`),
        await run(fql`[1, 2, 3].where(${predicate})`),
        await run(fql`${{ '@int': fql`1`, list: [[fql`2`]] }}["list"]`),
        (await client.query(fql`a.length + b`, { arguments: { a: 'four', b: 2 } })).data,
      ]
    },
    expected: [11, { plain: 1, query: 4, list: [3, 'text'] }, '1 + 1', [2, 3], [[2]], 6],
  },
  'a result has metadata, and all query options are accepted': {
    run: async client => {
      const result = await client.query<number>(fql`log("seen"); 1 + 2`, {
        linearized: true,
        contentionRetries: 2,
        tags: { kind: 'report', app: 'shop' },
        timeoutMs: 20_000,
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        performanceHints: true,
      })
      const { info } = result
      const { computeOps, readOps, writeOps, contentionRetries, rateLimitsHit } = info.stats
      return [
        ...[result.data, result.attempts, info.summary, info.tags],
        ...[computeOps, readOps, writeOps, contentionRetries, rateLimitsHit],
        ...[info.txnTs === client.lastTxnTs, client.lastTxnTs > 1e15, info.schemaVersion !== undefined],
      ]
    },
    expected: [
      ...[3, 1, 'info at *query*:1: seen', { kind: 'report', app: 'shop' }],
      ...[1, 0, 0, 0, []],
      ...[true, true, true],
    ],
  },
  'a query enables or disables the check of its types': {
    run: async client => {
      const query = fql`"text".nothing`
      const { data } = await client.query(query, { typecheck: false })
      const error = await client.query(query, { typecheck: true }).catch(reason => reason)
      return [data, error instanceof QueryCheckError, String(error.info?.summary).split('\n')[0]]
    },
    expected: [null, true, 'error: Type `String` does not have field `nothing`'],
  },
  'sets are read by page or by element': {
    run: async client => {
      const set = fql`Set.sequence(0, 40).map(n => n * 10)`
      const { data: first } = await client.query<Page<number>>(set)
      const sizes = async (query: ReturnType<typeof fql>) =>
        (await Array.fromAsync(client.pages(query))).map(page => page.data.length)
      const deep = fql`Set.sequence(0, 1).map(_ => Set.sequence(0, 20))`
      const inner = (await client.query<Page<Page<number>>>(deep)).data.data[0] as Page<number>
      return [
        first instanceof Page,
        first.data.length,
        await sizes(set),
        await sizes(fql`Set.sequence(0, 5).pageSize(2)`),
        await sizes(fql`Set.sequence(0, 5).paginate(3)`),
        (await Array.fromAsync(client.items<number>(first))).reduce((sum, n) => sum + n, 0),
        (await Array.fromAsync(client.items(inner))).length,
        await Array.fromAsync(client.items(fql`1 + 1`)),
        await Array.fromAsync(client.items(fql`{ data: [1], more: 2 }`)),
      ]
    },
    expected: [true, 16, [16, 16, 8], [2, 2, 1], [3, 2], 7800, 20, [2], [{ data: [1], more: 2 }]],
  },
}

export const documentFlows: Readonly<Record<string, Flow>> = {
  'a document is written, read, changed and deleted': {
    run: async client => {
      await client.query(items)
      const given = {
        name: 'tea',
        price: 4,
        when: new Time('2024-01-02T03:04:05Z'),
        day: new LocalDate('2024-01-02'),
      }
      const { data: made } = await client.query<Item>(fql`items.create(${{ ...given, big: 5_000_000_000 }})`)
      const { data: read } = await client.query<Item>(fql`items.byId(${made.id})`)
      const { data: price } = await client.query(fql`${read} { price }`)
      const ref = new DocumentRef('items', made.id)
      const { data: updated } = await client.query<Item>(fql`${ref}!.update({ price: 5, day: null })`)
      const { data: gone } = await client.query<NullDocument>(fql`${updated}!.delete()`)
      return [
        ...[read.coll.name, read.ts instanceof Time, read.ttl === undefined, isSame(read, made)],
        ...[fieldsOf(read), price, updated.price, 'day' in updated],
        ...[gone instanceof NullDocument, gone.cause, (gone.ref as DocumentRef).id === made.id],
      ]
    },
    expected: [
      ...['items', true, true, true],
      { name: 'tea', price: 4, when: '2024-01-02T03:04:05Z', day: '2024-01-02', big: 5_000_000_000 },
      ...[{ price: 4 }, 5, false],
      ...[true, 'deleted', true],
    ],
  },
  'missing documents, references and schema objects have classes': {
    run: async client => {
      await client.query(items)
      const { data: missing } = await client.query<NullDocument>(fql`items.byId('7')`)
      const failed = await errorOf(client.query(fql`items.byId('7')!.name`))
      await client.query(fql`items.create({ id: '1', name: 'tea' })`)
      type Pair = Document & { readonly goesWith: DocumentRef }
      const { data } = await client.query<Pair>(fql`items.create({ goesWith: items.byId('1') })`)
      const { data: definition } = await client.query<NamedDocument>(fql`items.definition`)
      const { data: again } = await client.query<boolean>(fql`${definition} == items.definition`)
      await client.query(fql`items.create({ id: '2', '@odd': 1, __proto__: 'own' })`)
      const { data: odd } = await client.query<Document & { '@odd': number }>(fql`items.byId('2')`)
      return [
        ...[missing.cause, missing.ref, failed instanceof QueryRuntimeError, failed.code],
        ...[data.goesWith instanceof DocumentRef, data.goesWith.id],
        ...[definition instanceof NamedDocument, definition.name, again],
        ...[odd['@odd'], Object.keys(odd).includes('__proto__')],
      ]
    },
    expected: [
      ...['not found', { coll: { name: 'items' }, id: '7' }, true, 'document_not_found'],
      ...[true, '1', true, 'items', true, 1, true],
    ],
  },
  'documents of later pages are current, and a deleted document is a NullDocument': {
    run: async client => {
      await client.query(items)
      for (const price of [1, 2, 3, 4]) await add(client, price)
      const seen: unknown[] = []
      for await (const page of client.pages<Item>(fql`items.all().pageSize(2)`)) {
        for (const item of page.data) seen.push(item instanceof NullDocument ? item.cause : item.price)
        await client.query(fql`items.where(.price == 3).forEach(.delete())`)
        await client.query(fql`items.where(.price == 4).forEach(.update({ price: 5 }))`)
      }
      return seen
    },
    expected: [1, 2, 'not found', 5],
  },
  'all pages of documents are read as of the time of the first': {
    run: async client => {
      await client.query(items)
      await client.query(fql`Set.sequence(0, 40).forEach(n => items.create({ name: 'item', price: n }))`)
      const sizes: number[] = []
      for await (const page of client.pages<number>(fql`items.all().pageSize(15).map(.price)`)) {
        sizes.push(page.data.length)
        if (sizes.length === 1) await client.query(fql`items.all().forEach(.delete())`)
      }
      return [sizes, (await client.query(fql`items.all().count()`)).data]
    },
    expected: [[15, 15, 10], 0],
  },
  'a client with the last transaction time of another client sees its writes': {
    run: async (client, config) => {
      await client.query(items)
      const reader = new Client(config)
      await client.query(fql`items.create({ id: '5' })`)
      reader.lastTxnTs = client.lastTxnTs
      return (await reader.query(fql`items.byId('5').exists()`)).data
    },
    expected: true,
  },
}

type Class = abstract new (...words: never[]) => ServiceError

export const schemaFlows: Readonly<Record<string, Flow>> = {
  'schema files are pushed, and replace those of before': {
    run: async (client, config) => {
      const first = await client.pushSchema({
        'a.fsl': 'collection A { n: Int }',
        'b.fsl': 'collection B {}',
      })
      await client.query(fql`A.create({ n: 1 })`)
      const second = await client.pushSchema({ 'a.fsl': 'collection A { n: Int; index byN { terms [.n] } }' })
      const names = await client.query(fql`Collection.all().map(.name).toArray()`)
      const invalid = await errorOf(client.pushSchema({ 'a.fsl': 'collection A { n: Strin g }' }))
      const { data: key } = await client.query<{ secret: string }>(fql`Key.create({ role: 'server' })`)
      const forbidden = await errorOf(new Client({ ...config, secret: key.secret }).pushSchema({}))
      const unknown = await errorOf(client.as('wrong').pushSchema({}))
      return [
        ...[second > first, client.lastTxnTs >= second, names.data, invalid.name, invalid.status],
        /at a\.fsl:1:25/.test(invalid.message),
        ...[forbidden.name, unknown.name],
      ]
    },
    expected: [
      ...[true, true, ['A'], 'InvalidRequestError', 400],
      true,
      ...['AuthorizationError', 'AuthenticationError'],
    ],
  },
}

export const errorFlows: Readonly<Record<string, Flow>> = {
  'errors have the class of their code': {
    run: async client => {
      const bad = { tags: { 'bad name!': 'x' } }
      const slow = fql`Set.sequence(0, 15000).map(i => Array.sequence(0, 1000).fold(0, (a, b) => a + b)).count()`
      // On a busy machine, the error may be later than a second after the arrival of the query. Its status is then 503.
      const late = async () => {
        for (;;) {
          const error = await errorOf(client.query(slow, { timeoutMs: 1 }))
          if (error.status !== 503) throw error
        }
      }
      const failures: readonly (readonly [() => Promise<unknown>, Class])[] = [
        [() => client.query(fql`1 +`), QueryCheckError],
        [() => client.query(fql`1 + missing`, { typecheck: false }), QueryRuntimeError],
        [() => client.query(fql`${4} / 0`), QueryRuntimeError],
        [() => client.query(fql`1`, bad), InvalidRequestError],
        [() => client.query(fql`1`, { contentionRetries: 1000 }), InvalidRequestError],
        [() => client.as('wrong').query(fql`1`), AuthenticationError],
        [late, QueryTimeoutError],
      ]
      const seen: unknown[] = []
      for (const [query, expected] of failures) {
        const error = await errorOf(query())
        seen.push([error instanceof expected, error.name, error.status, error.code])
      }
      const parsed = await errorOf(client.query(fql`1 +`))
      return [...seen, parsed.info.summary]
    },
    expected: [
      [true, 'QueryCheckError', 400, 'invalid_query'],
      [true, 'QueryRuntimeError', 400, 'unbound_variable'],
      [true, 'QueryRuntimeError', 400, 'divide_by_zero'],
      [true, 'InvalidRequestError', 400, 'invalid_request'],
      [true, 'InvalidRequestError', 400, 'invalid_request'],
      [true, 'AuthenticationError', 401, 'unauthorized'],
      [true, 'QueryTimeoutError', 440, 'time_out'],
      'error: Expected expression\nat *query*:1:4\n  |\n1 | 1 +\n  |    ^\n  |',
    ],
  },
  'an abort error has the aborted value, a constraint error the failed constraints': {
    run: async client => {
      const aborted = await errorOf(client.query(fql`abort({ reason: "sold out", at: Date("2024-01-02") })`))
      await client.query(fql`Collection.create({ name: 'users', constraints: [{ unique: ['email'] }] })`)
      await client.query(fql`users.create({ email: 'ann@example.org' })`)
      const failed = await errorOf(client.query(fql`users.create({ email: 'ann@example.org' })`))
      return [
        aborted instanceof QueryAbortedError && aborted.value,
        failed instanceof ConstraintFailureError && failed.failures,
        failed.message,
      ]
    },
    expected: [
      { reason: 'sold out', at: '2024-01-02' },
      [{ paths: [['email']], message: 'Failed unique constraint' }],
      'Failed unique constraint.',
    ],
  },
  'a user logs in and out': {
    run: async (client, config) => {
      await client.query(
        fql`Collection.create({ name: 'User', indexes: { byEmail: { terms: [{ field: 'email' }] } } })`,
      )
      await client.query(fql`Function.create({
        name: 'logIn', role: 'server',
        body: '(email, password) => Credential.byDocument(User.byEmail(email).first()!)!.login(password)'
      })`)
      await client.query(
        fql`Role.create({ name: 'visitor', privileges: { resource: 'logIn', actions: { call: true } } })`,
      )
      const { data: key } = await client.query<{ secret: string }>(fql`Key.create({ role: 'visitor' })`)
      await client.query(
        fql`Credential.create({ document: User.create({ email: 'a@b.test' }), password: 'horse' })`,
      )
      const visitor = new Client({ ...config, secret: key.secret })
      const logIn = (password: string) => visitor.login(fql`logIn('a@b.test', ${password})`)
      const wrong = await errorOf(logIn('wrong'))
      const [phone, laptop, desk] = [await logIn('horse'), await logIn('horse'), await logIn('horse')]
      const who = async (one: Client) => (await one.query(fql`Query.token() != null`)).data
      const before = [await who(phone.client), await who(visitor.as(laptop.secret))]
      await phone.client.logout()
      const after = await errorOf(phone.client.query(fql`1`))
      const still = await who(laptop.client)
      await laptop.client.logout({ everywhere: true })
      const last = await errorOf(desk.client.query(fql`1`))
      return [
        wrong.code,
        before,
        after.code,
        still,
        last.code,
        (await errorOf(visitor.logout())).code,
        (await errorOf(visitor.logout({ everywhere: true }))).code,
      ]
    },
    expected: [
      'invalid_secret',
      [true, true],
      'unauthorized',
      true,
      'unauthorized',
      'null_value',
      'invalid_argument',
    ],
  },
}
