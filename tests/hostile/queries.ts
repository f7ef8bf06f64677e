// Queries that try to exhaust a resource: the stack, the memory, the time, the parser. Each names its expected result.

type Wire = unknown

/**
 * The expected result of a hostile query: a status with the code of its first error, or success. The possible nesting of
 * expressions, within the parser's limit, depends on how far the runtime has optimized the evaluator.
 */
export type Verdict = `${number} ${string}` | 'ok' | 'ok or 400 stack overflow'

export interface HostileQuery {
  readonly name: string
  /** Returns the query as JSON text, because some queries cannot be written as a value. */
  readonly body: () => string
  readonly verdict: Verdict
}
/** The text of a query; created on demand, because it may be large. */
const json = (query: Wire) => () => JSON.stringify(query)
const nested = (levels: number, before: string, inside: string, after: string): string =>
  before.repeat(levels) + inside + after.repeat(levels)
const lambda = (parameter: string, expr: Wire): Wire => ({ lambda: parameter, expr })
const variable = (name: string): Wire => ({ var: name })
const object = (fields: Record<string, Wire>): Wire => ({ object: fields })
const list = (count: number, element: Wire = 1): Wire[] => Array(count).fill(element)

const thousands = list(1000)

/** An expression that creates 10 to the power of `power` elements, by nested maps. */
function mapped(power: number): Wire {
  return power === 0 ? 1 : { map: lambda(`x${power}`, mapped(power - 1)), collection: list(10) }
}

/** A text that is doubled repeatedly. */
function doubled(times: number): Wire {
  let text: Wire = 'x'.repeat(1024)
  for (let time = 0; time < times; time++) {
    text = { let: [{ t: text }], in: { concat: [variable('t'), variable('t')] } }
  }
  return text
}

/** An array that is doubled repeatedly. */
function doubledArray(times: number): Wire {
  let elements: Wire = thousands
  for (let time = 0; time < times; time++) {
    elements = { let: [{ a: elements }], in: { append: variable('a'), collection: variable('a') } }
  }
  return elements
}

/** Nested arrays that contain the next one twice: small in memory, enormous as text. */
function shared(times: number): Wire {
  let value: Wire = ['x'.repeat(64)]
  for (let time = 0; time < times; time++) {
    value = { let: [{ v: value }], in: [variable('v'), variable('v')] }
  }
  return value
}

const strange = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  '\u0000',
  '\ud800',
  '@ref',
  '@obj',
]
const invalidText = JSON.stringify(strange).replace('"\\ud800",', '')

const bodies: readonly HostileQuery[] = [
  { name: 'an empty body', body: () => '', verdict: '400 invalid expression' },
  { name: 'no JSON', body: () => '{"add": [1, 2', verdict: '400 invalid expression' },
  { name: '1000 arrays in arrays', body: () => nested(1000, '[', '', ']'), verdict: 'ok' },
  {
    name: '1001 arrays in arrays',
    body: () => nested(1001, '[', '', ']'),
    verdict: '400 invalid expression',
  },
  {
    name: '1001 objects in objects',
    body: () => nested(1001, '{"object":', '1', '}'),
    verdict: '400 invalid expression',
  },
  {
    name: '4 million opening brackets',
    body: () => '['.repeat(4_000_000),
    verdict: '400 invalid expression',
  },
  {
    name: '999 calls in calls',
    body: () => nested(999, '{"not":', 'true', '}'),
    verdict: 'ok or 400 stack overflow',
  },
  { name: '8 MiB and a byte', body: () => `"${'x'.repeat(8_388_607)}"`, verdict: '413 request too large' },
  { name: 'a text of nearly 8 MiB', body: () => `"${'x'.repeat(8_388_606)}"`, verdict: 'ok' },
  { name: '8 MiB of commas', body: () => `[${','.repeat(8_000_000)}]`, verdict: '400 invalid expression' },
  {
    name: 'a million keys',
    body: () => `{${Array.from({ length: 500_000 }, (_, key) => `"${key}":1`).join()}}`,
    verdict: '400 invalid expression',
  },
  {
    name: 'a key of a million characters',
    body: () => `{"${'k'.repeat(1_000_000)}":1}`,
    verdict: '400 invalid expression',
  },
  { name: 'a number of 100 000 digits', body: () => '9'.repeat(100_000), verdict: '400 invalid expression' },
  {
    name: 'a number with an exponent of a million',
    body: () => '1e1000000',
    verdict: 'ok',
  },
  {
    name: 'the largest integer and one',
    body: () => '9223372036854775808',
    verdict: '400 invalid expression',
  },
  { name: 'the same key twice', body: () => '{"add": [1], "add": [2]}', verdict: 'ok' },
  { name: 'half a surrogate pair', body: () => '"\\ud800"', verdict: 'ok' },
  { name: 'a NUL', body: () => '"\\u0000"', verdict: 'ok' },
  { name: 'a raw NUL', body: () => '"\u0000"', verdict: '400 invalid expression' },
  { name: 'a byte order mark', body: () => '\ufeff1', verdict: 'ok' },
]

/** Keys with a meaning of their own in the wire format. */
const special = new Set(['@ref', '@obj'])

function queriesAbout(name: string): readonly HostileQuery[] {
  const shown = JSON.stringify(name)
  const isName = /^[\w@]+$/.test(name)
  const field: Verdict = special.has(name) ? '400 invalid expression' : 'ok'
  const value = { object: { [name]: 1 } }
  return [
    { name: `a variable ${shown}`, body: json({ let: [{ [name]: 1 }], in: variable(name) }), verdict: 'ok' },
    { name: `an unknown variable ${shown}`, body: json(variable(name)), verdict: '400 invalid expression' },
    { name: `a field ${shown}`, body: json({ select: [name], from: value }), verdict: field },
    {
      name: `a missing field ${shown}`,
      body: json({ select: [name], from: object({}) }),
      verdict: '404 value not found',
    },
    { name: `a form ${shown}`, body: json({ [name]: 1 }), verdict: '400 invalid expression' },
    {
      name: `a document of a collection ${shown}`,
      body: json({ get: { ref: { collection: name }, id: '1' } }),
      verdict: '400 invalid ref',
    },
    { name: `an index ${shown}`, body: json({ paginate: { match: name } }), verdict: '400 invalid ref' },
    { name: `a function ${shown}`, body: json({ call: name, arguments: 1 }), verdict: '400 invalid ref' },
    {
      name: `a new collection ${shown}`,
      body: json({ create_collection: object({ name }) }),
      verdict: isName ? 'ok' : '400 validation failed',
    },
  ]
}

const names: readonly HostileQuery[] = strange.flatMap(queriesAbout)

const stack: readonly HostileQuery[] = [
  {
    name: 'a function that calls itself',
    body: json({ call: 'endless', arguments: 1 }),
    verdict: '400 stack overflow',
  },
  {
    name: 'two functions that call each other',
    body: json({ call: 'ping', arguments: 1 }),
    verdict: '400 stack overflow',
  },
  {
    name: 'a function that calls itself twice',
    body: json({ call: 'twice', arguments: 1 }),
    verdict: '400 stack overflow',
  },
  {
    name: 'deep recursion through deep expressions',
    body: json({ call: 'deep', arguments: 1 }),
    verdict: '400 stack overflow',
  },
  {
    name: '200 maps in maps',
    body: () => nested(190, '{"map":{"lambda":"x","expr":', '1', '},"collection":[1]}'),
    verdict: 'ok',
  },
  {
    name: '490 maps in maps',
    body: () => nested(490, '{"map":{"lambda":"x","expr":', '1', '},"collection":[1]}'),
    verdict: '400 stack overflow',
  },
  {
    name: 'a reduce that wraps a value 10 000 times',
    body: json({
      reduce: lambda('a', [{ select: [0], from: variable('a') }]),
      initial: [],
      collection: list(10_000),
    }),
    verdict: '400 bad request',
  },
  {
    name: 'a reduce that wraps a value in objects',
    body: json({
      reduce: { lambda: ['a', '_'], expr: object({ a: variable('a') }) },
      initial: 1,
      collection: list(90_000),
    }),
    verdict: '400 bad request',
  },
]

const memory: readonly HostileQuery[] = [
  { name: 'a text doubled 30 times', body: json(doubled(30)), verdict: '400 bad request' },
  { name: 'an array doubled 30 times', body: json(doubledArray(30)), verdict: '400 bad request' },
  {
    name: 'an array that contains itself twice, 30 levels deep',
    body: json(shared(30)),
    verdict: '400 bad request',
  },
  {
    name: 'a text repeated',
    body: json({
      repeat: { repeat: { repeat: 'x'.repeat(1000), number: 1000 }, number: 1000 },
      number: 1000,
    }),
    verdict: '400 bad request',
  },
  { name: 'a billion spaces', body: json({ space: 1_000_000_000 }), verdict: 'ok' },
  {
    name: 'every element replaced by much',
    body: json({ replacestr: 'x'.repeat(100_000), find: 'x', replace: 'y'.repeat(10_000) }),
    verdict: '400 bad request',
  },
  {
    name: 'n-grams of a long text',
    body: json({ ngram: 'x'.repeat(1_000_000), min: 1, max: 100_000 }),
    verdict: '400 invalid argument',
  },
  {
    name: 'a format of great width',
    body: json({ format: '%1000000000d', values: 1 }),
    verdict: '400 bad request',
  },
]

const time: readonly HostileQuery[] = [
  { name: 'a hundred million elements by maps in maps', body: json(mapped(8)), verdict: '400 bad request' },
  {
    name: 'a regular expression that would backtrack',
    body: json({ findstrregex: 'a'.repeat(100_000), pattern: '(a+)+$' }),
    verdict: 'ok',
  },
  {
    name: 'a regular expression of great size',
    body: json({ findstrregex: 'a', pattern: '((a{1000}){1000}){1000}' }),
    verdict: 'ok',
  },
  {
    name: 'a regular expression that does backtrack',
    body: json({ findstrregex: `${'a'.repeat(100_000)}b`, pattern: '(?=a)(a+)+$' }),
    verdict: '400 invalid argument',
  },
  {
    name: 'a regular expression of great size that does backtrack',
    body: json({
      containsstrregex: 'a'.repeat(100_000),
      pattern: '(((?:){1000000000}){1000000000}){1000000000}',
    }),
    verdict: '400 invalid argument',
  },
  {
    name: 'a regular expression of 100 000 groups',
    body: json({ findstrregex: 'a', pattern: '('.repeat(100_000) }),
    verdict: '400 invalid argument',
  },
  {
    name: 'a union of unions',
    body: json({ paginate: { union: list(300, { union: list(300, { match: 'by_n', terms: 1 }) }) } }),
    verdict: '400 bad request',
  },
  {
    name: 'a join of joins',
    body: json({
      count: {
        join: {
          join: {
            join: { documents: { collection: 'things' } },
            with: lambda('x', { documents: { collection: 'things' } }),
          },
          with: lambda('x', { documents: { collection: 'things' } }),
        },
        with: lambda('x', { documents: { collection: 'things' } }),
      },
    }),
    verdict: 'ok',
  },
  {
    name: 'a reduce in a reduce in a reduce',
    body: json({
      reduce: lambda('a', {
        reduce: lambda('b', { reduce: lambda('c', 1), initial: 0, collection: thousands }),
        initial: 0,
        collection: thousands,
      }),
      initial: 0,
      collection: thousands,
    }),
    verdict: '400 bad request',
  },
  { name: 'the power of powers', body: json({ pow: 1e308, exp: 1e308 }), verdict: 'ok' },
  {
    name: 'a wide array that is merged',
    body: json({ merge: object({}), with: list(50_000, object({ a: 1 })) }),
    verdict: 'ok',
  },
]

const created = (data: Wire): (() => string) =>
  json({ create: { collection: 'things' }, params: object({ data }) })
const wrapped = (levels: number): Wire => ({
  reduce: { lambda: ['a', '_'], expr: [variable('a')] },
  initial: 1,
  collection: list(levels),
})

const stored: readonly HostileQuery[] = [
  {
    name: 'a document with a value nested 900 deep',
    body: created(object({ v: wrapped(900) })),
    verdict: 'ok',
  },
  {
    name: 'a document with a value nested 5000 deep',
    body: created(object({ v: wrapped(5000) })),
    verdict: '400 bad request',
  },
  {
    name: 'a document of more than 8 MiB',
    body: created(object({ v: { repeat: 'x'.repeat(10_000), number: 1000 } })),
    verdict: '400 bad request',
  },
  {
    name: 'index entries by the million',
    body: created(object({ a: list(2000).map((_, n) => n), b: list(2000).map((_, n) => n) })),
    verdict: '400 bad request',
  },
  {
    name: 'fields of strange names',
    body: () =>
      `{"create":{"collection":"things"},"params":{"object":{"data":{"object":{"list":${invalidText},"__proto__":{"object":{"x":1}},"constructor":1,"toString":2,"@ref":3}}}}}`,
    verdict: 'ok',
  },
  {
    name: 'an id that is too large',
    body: json({ create: { ref: { collection: 'things' }, id: '9'.repeat(30) } }),
    verdict: '400 invalid argument',
  },
  {
    name: 'a lambda of 900 levels stored in a document',
    body: () =>
      `{"create":{"collection":"things"},"params":{"object":{"data":{"object":{"q":{"query":{"lambda":"x","expr":${nested(900, '[', '1', ']')}}}}}}}}`,
    verdict: 'ok',
  },
  {
    name: 'all stored documents are read',
    body: json({
      map: lambda('x', { get: variable('x') }),
      collection: { paginate: { documents: { collection: 'things' } }, size: 1000 },
    }),
    verdict: 'ok',
  },
]

/** All queries, by the resource that they try to exhaust. */
export const hostileQueries: Readonly<Record<string, readonly HostileQuery[]>> = {
  bodies,
  names,
  stack,
  memory,
  time,
  stored,
}

/** Queries that create the data for the others. */
export const preparation: readonly Wire[] = [
  { create_collection: object({ name: 'things' }) },
  {
    create_index: object({
      name: 'by_n',
      source: { collection: 'things' },
      terms: [object({ field: ['data', 'n'] })],
    }),
  },
  {
    create_index: object({
      name: 'by_a',
      source: { collection: 'things' },
      terms: [object({ field: ['data', 'a'] })],
      values: [object({ field: ['data', 'b'] })],
    }),
  },
  {
    foreach: lambda('n', {
      create: { collection: 'things' },
      params: object({ data: object({ n: variable('n') }) }),
    }),
    collection: list(100),
  },
  ...Object.entries({
    endless: { call: 'endless', arguments: variable('x') },
    ping: { call: 'pong', arguments: variable('x') },
    pong: { call: 'ping', arguments: variable('x') },
    twice: [
      { call: 'twice', arguments: 1 },
      { call: 'twice', arguments: 2 },
    ],
    deep: JSON.parse(nested(450, '[', '{"call":"deep","arguments":1}', ']')) as Wire,
  }).map(([name, expr]) => ({ create_function: object({ name, body: { query: lambda('x', expr) } }) })),
]
