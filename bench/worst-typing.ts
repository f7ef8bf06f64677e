// Programs of version 10 whose type checks are as expensive for the service as we can make them, like the queries in
// worst-queries.ts. The requests have the header `x-typecheck: true`. The texts differ from request to request, because
// the service remembers the results of checks.

/** A program with an expensive check. */
export interface WorstCheck {
  readonly name: string
  readonly path: '/query/1' | '/api/v1/check'
  /** Returns the body of the `n`-th request. */
  readonly body: (n: number) => string
}

const times = (count: number, text: (n: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, n) => text(n)).join(between)

/** A query that is new in each request. */
const fresh = (n: number, text: string, more: object = {}) =>
  JSON.stringify({ query: `// ${n}\n${text}`, ...more })

/** A check of a query. Lambdas are only defined, so that evaluation takes no time. */
const check = (name: string, text: string): WorstCheck => ({
  name: `typing: ${name}`,
  path: '/query/1',
  body: n => fresh(n, text),
})

const wideRecord = `{ ${times(60_000, n => `field${n}: ${n}`, ', ')} }`

export const worstChecks: readonly WorstCheck[] = [
  check('2 000 operators on unknown values', `(a, b) => a${' + b'.repeat(2000)}`),
  check(
    '20 open overloads',
    `(${times(20, n => `p${n}`, ', ')}) => [${times(20, n => `p${n} + p${n}`, ', ')}]`,
  ),
  check(
    'overloads that depend on each other',
    `(a) => { ${times(60, n => `let v${n} = ${n === 0 ? 'a' : `v${n - 1}`} + a\n`)} v59 }`,
  ),
  check(
    'functions that double their type',
    `let f0 = x => [x, x]\n${times(30, n => `let f${n + 1} = x => f${n}(f${n}(x))\n`)} f30`,
  ),
  check('nested arrays', `x => ${'['.repeat(400)}x${']'.repeat(400)}`),
  check(
    'nested lambdas',
    `${times(300, n => `x${n} =>`)} [${times(300, n => `x${n}(x${(n * 7) % 300})`, ', ')}]`,
  ),
  check('a union of 5 000 literals', `x => [${times(5000, n => `"value ${n}"`, ', ')}][x]`),
  check(
    'unions that meet',
    `(x) => { let u = [${times(3000, n => `"v${n}"`, ', ')}]\n let w = [${times(3000, n => `{ a: ${n} }`, ', ')}]\n u.concat(w).map(e => e.a) }`,
  ),
  check('1 MB of records', `x => ${wideRecord}`),
  check('a misspelt field of 1 MB of records', `x => ${wideRecord}.missing`),
  check(
    '10 000 misspelt fields',
    `(x) => { let u = { ${times(50, n => `f${n}: ${n}`, ', ')} }\n ${times(10_000, n => `u.m${n}\n`)} }`,
  ),
  check(
    'a function that is applied to itself',
    `let y = f => f(f)\n let z = (a, b) => y(a)(b)(y)\n ${times(50, () => 'z(z, y)\n')} 1`,
  ),
  {
    name: 'typing: 1 MB of arguments',
    path: '/query/1',
    body: n =>
      fresh(n, 'x => [a, a.map(e => e.b), a[0].c]', {
        arguments: { a: Array.from({ length: 20_000 }, (_, at) => ({ b: at, c: { [`d${at}`]: `${at}` } })) },
      }),
  },
  {
    name: 'typing: a definition of 300 functions, then abort',
    path: '/query/1',
    body: n =>
      fresh(
        n,
        `Array.sequence(0, 300).forEach(i => Function.create({ name: "F#{i}x${n}", body: "(a, b) => a + b + a + b + a + b" })); abort("enough")`,
      ),
  },
  {
    name: 'typing: members of a record of 1 MB',
    path: '/api/v1/check',
    body: n => {
      const text = `// ${n}\nlet u = ${wideRecord}\nu.name`
      return JSON.stringify({ query: text, members_at: text.length - 'name'.length })
    },
  },
]
