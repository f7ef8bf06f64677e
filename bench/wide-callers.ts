// The kinds of large numbers of callers and of code of the case `wide`: functions, roles, tokens, event streams.

import { send } from '../tests/support/http.ts'
import { untilIdle } from './size-work.ts'
import { data, forEach, one, type WideKind, type WideRun, wait } from './wide-run.ts'
import { StreamClient } from './wide-streams.ts'

const functionCount = 2000

const functions: WideKind = {
  name: '2 000 functions',
  async run(run) {
    run.memory('before')
    await run.step('push of 2 000 functions', () => push(run, functionCount, 1), { isOnce: true })
    await run.step('push with a changed function', n => push(run, functionCount, 1, n))
    await run.step('push without a change', () => push(run, functionCount, 1))
    run.memory('after the pushes')
    for (const [name, typecheck] of [
      ['without types', 'false'],
      ['with types', 'true'],
    ] as const) {
      const headers = { 'x-typecheck': typecheck }
      await run.fql(`new query in version 10, ${name}`, n => `f7(${n})`, { headers })
      await run.fql(`repeated query in version 10, ${name}`, () => 'f7(1)', { headers })
    }
    const lambda = 'Query(Lambda("x", Var("x")))'
    await run.query('create of another function', n => `CreateFunction({name: "g${n}", body: ${lambda}})`)
    await run.fql(
      'create of another function in version 10',
      n => `Function.create({ name: "h${n}", body: "x => x" }).name`,
    )
    await run.query('call in version 4', n => `Call(Function("g1"), ${n})`)
    await run.query('page of 64 functions', () => 'Paginate(Functions())')
    await run.step('create of a function, then a query with types', async n => {
      await run.text(`CreateFunction({name: "i${n}", body: ${lambda}})`)
      const body = JSON.stringify({ query: `f8(${n})` })
      const { status, text } = await send(run.server, {
        secret: run.secret,
        path: '/query/1',
        body,
        headers: { 'x-typecheck': 'true' },
      })
      return status < 300 ? undefined : `${status} ${text.slice(0, 160)}`
    })
    run.memory('after the queries')
  },
}

/** Pushes the collection `c` and functions that add a number. `changed`: adds another number in one function. */
async function push(
  { secret, server }: WideRun,
  count: number,
  added: number,
  changed = added,
): Promise<string | undefined> {
  const form = new FormData()
  const lines = Array.from(
    { length: count },
    (_, at) => `function f${at}(x: Number): Number { x + ${at === 0 ? changed : added} }`,
  )
  form.append('main.fsl', new Blob([['collection c {}', ...lines].join('\n')]))
  const response = await fetch(`${server.url}/schema/1/update?force=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: form,
  })
  const text = await response.text()
  return response.status < 300 ? undefined : `${response.status} ${text.slice(0, 160)}`
}

const roleCount = 500
const membersMax = 64

const roles: WideKind = {
  name: '500 roles of a key, 64 roles of a token',
  async run(run) {
    await run.text('CreateIndex({name: "all", source: Collection("c")})')
    await run.text('CreateCollection({name: "u"})')
    const user = 'Ref(Collection("u"), "1")'
    await run.text(`Create(${user}, {})`)
    await forEach(
      run,
      [1, 1001],
      500,
      `Create(Ref(Collection("c"), ToString(Var("n"))), ${data('n: Var("n")')})`,
    )
    const tokenOf = `Select("secret", Create(Tokens(), {instance: ${user}}))`
    const role = (name: string, read: string, membership: string) =>
      `CreateRole({name: ${name}, ${membership} privileges: [{resource: Collection("c"), actions: {read: ${read}}}, {resource: Index("all"), actions: {read: true}}]})`
    const never = 'Query(Lambda("ref", Equals(Select(["data", "n"], Get(Var("ref"))), -1)))'
    const membership = 'membership: [{resource: Collection("u")}],'
    await run.text(role('"member"', 'true', membership))
    const token = (await run.text(tokenOf)) as string
    const measure = async (what: string, secret: string) => {
      await run.query(`get with ${what}`, () => `Get(${one})`, { secret })
      await run.query(`page of 64 with ${what}`, () => 'Paginate(Match(Index("all")))', { secret })
    }
    await measure('a token of a role', token)
    await forEach(run, [0, roleCount], 100, role('Concat(["r", ToString(Var("n"))])', never, ''))
    await measure(`a token of a role, ${roleCount} other roles`, token)
    await run.text(role('"last"', 'true', ''))
    const keyOf = async (count: number) => {
      const names = [...Array.from({ length: count }, (_, n) => `r${n}`), 'last']
      const list = names.map(name => `Role("${name}")`).join(', ')
      return (await run.text(`Select("secret", CreateKey({role: [${list}]}))`)) as string
    }
    await measure('a key of 6 roles', await keyOf(5))
    await measure(`a key of ${roleCount + 1} roles`, await keyOf(roleCount))
    await run.text(
      `Update(Role("last"), {privileges: {resource: Collection("c"), actions: {read: Query(Lambda("ref", true))}}})`,
    )
    await measure(`a key of ${roleCount + 1} roles with predicates`, await keyOf(roleCount))
    await forEach(
      run,
      [1, membersMax],
      membersMax,
      role('Concat(["m", ToString(Var("n"))])', never, membership),
    )
    await measure(`a token of ${membersMax} roles`, token)
    await run.query('65th role with the same membership', () => role('"m64"', never, membership))
    await run.fql(
      '65th role with the same membership in version 10',
      () => 'Role.create({ name: "m65", membership: { resource: "u" } })',
    )
  },
}

const tokenCount = 100_000

const tokens: WideKind = {
  name: '100 000 tokens of a user',
  async run(run) {
    await run.text('CreateCollection({name: "u"})')
    const user = 'Ref(Collection("u"), "1")'
    await run.text(`Create(${user}, {})`)
    // Tokens without usable secrets, because hashing the secrets would take minutes.
    await run.background(`creates of ${tokenCount} tokens`, tokenCount, () =>
      forEach(
        run,
        [0, tokenCount],
        1000,
        `Create(Tokens(), {instance: ${user}, hashed_secret: "", data: {n: Var("n")}})`,
      ),
    )
    const create = `Create(Tokens(), {instance: ${user}})`
    const secret = (await run.text(`Select("secret", ${create})`)) as string
    await run.query('login', () => create)
    await run.query('request with a token', () => 'CurrentIdentity()', { secret })
    await run.query('page of 64 tokens', () => 'Paginate(Tokens())')
    const ofUser = 'Token.byDocument(u.byId("1")!)'
    await run.fql('first token of the user in version 10', () => `${ofUser}.first()!.id`)
    await run.fql('page of 16 tokens in version 10', () => ofUser)
    await run.fql('number of tokens in version 10', () => `${ofUser}.count()`)
    await run.fql('delete of all tokens in version 10', () => `${ofUser}.forEach(.delete())`)
    await run.fql('delete of 1 000 tokens in version 10', () => `${ofUser}.take(1000).forEach(.delete())`)
    await run.query('logout of all', () => 'Logout(true)', { secret, isOnce: true })
    await run.query('request with the token', () => 'CurrentIdentity()', { secret })
    await run.query('login after the logout', () => create)
    await run.background('removal of the tokens', tokenCount, () => untilIdle(run.server))
  },
}

const streamCount = 5000

const streams: WideKind = {
  name: '5 000 event streams',
  async run(run) {
    await forEach(
      run,
      [1, streamCount + 1],
      1000,
      `Create(Ref(Collection("c"), ToString(Var("n"))), ${data('n: 0')})`,
    )
    await run.query('update of a document without streams', n => `Update(${one}, ${data(`n: ${n}`)})`)
    for (const [what, idOf, expected] of [
      ['of different documents', (n: number) => n + 1, 1],
      ['of one document', () => 1, streamCount],
    ] as const) {
      run.memory(`before the streams ${what}`)
      const client = new StreamClient(run)
      const open = () => client.open(streamCount, n => ({ ref: { collection: 'c' }, id: String(idOf(n)) }))
      await run.step(`opening of 5 000 streams ${what}`, open, { isOnce: true })
      run.memory(`with the streams ${what}`)
      await run.step(`update of a document, until ${expected} events`, async n => {
        const arrived = client.events(expected)
        await run.text(`Update(${one}, ${data(`n: ${1000 + n}`)})`)
        await arrived
        return undefined
      })
      client.close()
      await wait(2000)
    }
    run.memory('after the streams')
  },
}

export const callerKinds: readonly WideKind[] = [functions, roles, tokens, streams]
