// Queries that try to exhaust a resource: the stack, the memory, the time, the parser. Each names its expected result.

type Wire = unknown

/**
 * The expected result of a hostile query: a status with the code of its first error, or success. The possible nesting of
 * expressions, within the parser's limit, depends on how far the runtime has optimized the evaluator.
 */
export type Verdict = `${number} ${string}` | 'ok' | 'ok or 400 stack overflow'

/** The body returns JSON text, because some queries cannot be written as a value. */
type HostileQuery = readonly [name: string, body: () => string, verdict: Verdict]

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
  ['an empty body', () => '', '400 invalid expression'],
  ['no JSON', () => '{"add": [1, 2', '400 invalid expression'],
  ['1000 arrays in arrays', () => nested(1000, '[', '', ']'), 'ok'],
  ['1001 arrays in arrays', () => nested(1001, '[', '', ']'), '400 invalid expression'],
  ['1001 objects in objects', () => nested(1001, '{"object":', '1', '}'), '400 invalid expression'],
  ['4 million opening brackets', () => '['.repeat(4_000_000), '400 invalid expression'],
  ['999 calls in calls', () => nested(999, '{"not":', 'true', '}'), 'ok or 400 stack overflow'],
  ['8 MiB and a byte', () => `"${'x'.repeat(8_388_607)}"`, '413 request too large'],
  ['a text of nearly 8 MiB', () => `"${'x'.repeat(8_388_606)}"`, 'ok'],
  ['8 MiB of commas', () => `[${','.repeat(8_000_000)}]`, '400 invalid expression'],
  [
    'a million keys',
    () => `{${Array.from({ length: 500_000 }, (_, key) => `"${key}":1`).join()}}`,
    '400 invalid expression',
  ],
  ['a key of a million characters', () => `{"${'k'.repeat(1_000_000)}":1}`, '400 invalid expression'],
  ['a number of 100 000 digits', () => '9'.repeat(100_000), '400 invalid expression'],
  ['a number with an exponent of a million', () => '1e1000000', 'ok'],
  ['the largest integer and one', () => '9223372036854775808', '400 invalid expression'],
  ['the same key twice', () => '{"add": [1], "add": [2]}', 'ok'],
  ['half a surrogate pair', () => '"\\ud800"', 'ok'],
  ['a NUL', () => '"\\u0000"', 'ok'],
  ['a raw NUL', () => '"\u0000"', '400 invalid expression'],
  ['a byte order mark', () => '\ufeff1', 'ok'],
]

/** Keys with a meaning of their own in the wire format. */
const special = new Set(['@ref', '@obj'])

function queriesAbout(name: string): readonly HostileQuery[] {
  const shown = JSON.stringify(name)
  const isName = /^[\w@]+$/.test(name)
  const field: Verdict = special.has(name) ? '400 invalid expression' : 'ok'
  const value = { object: { [name]: 1 } }
  return [
    [`a variable ${shown}`, json({ let: [{ [name]: 1 }], in: variable(name) }), 'ok'],
    [`an unknown variable ${shown}`, json(variable(name)), '400 invalid expression'],
    [`a field ${shown}`, json({ select: [name], from: value }), field],
    [`a missing field ${shown}`, json({ select: [name], from: object({}) }), '404 value not found'],
    [`a form ${shown}`, json({ [name]: 1 }), '400 invalid expression'],
    [
      `a document of a collection ${shown}`,
      json({ get: { ref: { collection: name }, id: '1' } }),
      '400 invalid ref',
    ],
    [`an index ${shown}`, json({ paginate: { match: name } }), '400 invalid ref'],
    [`a function ${shown}`, json({ call: name, arguments: 1 }), '400 invalid ref'],
    [
      `a new collection ${shown}`,
      json({ create_collection: object({ name }) }),
      isName ? 'ok' : '400 validation failed',
    ],
  ]
}

const names: readonly HostileQuery[] = strange.flatMap(queriesAbout)

const stack: readonly HostileQuery[] = [
  ['a function that calls itself', json({ call: 'endless', arguments: 1 }), '400 stack overflow'],
  ['two functions that call each other', json({ call: 'ping', arguments: 1 }), '400 stack overflow'],
  ['a function that calls itself twice', json({ call: 'twice', arguments: 1 }), '400 stack overflow'],
  ['deep recursion through deep expressions', json({ call: 'deep', arguments: 1 }), '400 stack overflow'],
  ['200 maps in maps', () => nested(190, '{"map":{"lambda":"x","expr":', '1', '},"collection":[1]}'), 'ok'],
  [
    '490 maps in maps',
    () => nested(490, '{"map":{"lambda":"x","expr":', '1', '},"collection":[1]}'),
    '400 stack overflow',
  ],
  [
    'a reduce that wraps a value 10 000 times',
    json({
      reduce: lambda('a', [{ select: [0], from: variable('a') }]),
      initial: [],
      collection: list(10_000),
    }),
    '400 bad request',
  ],
  [
    'a reduce that wraps a value in objects',
    json({
      reduce: { lambda: ['a', '_'], expr: object({ a: variable('a') }) },
      initial: 1,
      collection: list(90_000),
    }),
    '400 bad request',
  ],
]

const memory: readonly HostileQuery[] = [
  ['a text doubled 30 times', json(doubled(30)), '400 bad request'],
  ['an array doubled 30 times', json(doubledArray(30)), '400 bad request'],
  ['an array that contains itself twice, 30 levels deep', json(shared(30)), '400 bad request'],
  [
    'a text repeated',
    json({
      repeat: { repeat: { repeat: 'x'.repeat(1000), number: 1000 }, number: 1000 },
      number: 1000,
    }),
    '400 bad request',
  ],
  ['a billion spaces', json({ space: 1_000_000_000 }), 'ok'],
  [
    'every element replaced by much',
    json({ replacestr: 'x'.repeat(100_000), find: 'x', replace: 'y'.repeat(10_000) }),
    '400 bad request',
  ],
  [
    'n-grams of a long text',
    json({ ngram: 'x'.repeat(1_000_000), min: 1, max: 100_000 }),
    '400 invalid argument',
  ],
  ['a format of great width', json({ format: '%1000000000d', values: 1 }), '400 bad request'],
]

const time: readonly HostileQuery[] = [
  ['a hundred million elements by maps in maps', json(mapped(8)), '400 bad request'],
  [
    'a regular expression that would backtrack',
    json({ findstrregex: 'a'.repeat(100_000), pattern: '(a+)+$' }),
    'ok',
  ],
  [
    'a regular expression of great size',
    json({ findstrregex: 'a', pattern: '((a{1000}){1000}){1000}' }),
    'ok',
  ],
  [
    'a regular expression that does backtrack',
    json({ findstrregex: `${'a'.repeat(100_000)}b`, pattern: '(?=a)(a+)+$' }),
    '400 invalid argument',
  ],
  [
    'a regular expression of great size that does backtrack',
    json({
      containsstrregex: 'a'.repeat(100_000),
      pattern: '(((?:){1000000000}){1000000000}){1000000000}',
    }),
    '400 invalid argument',
  ],
  [
    'a regular expression of 100 000 groups',
    json({ findstrregex: 'a', pattern: '('.repeat(100_000) }),
    '400 invalid argument',
  ],
  [
    'a union of unions',
    json({ paginate: { union: list(300, { union: list(300, { match: 'by_n', terms: 1 }) }) } }),
    '400 bad request',
  ],
  [
    'a join of joins',
    json({
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
    'ok',
  ],
  [
    'a reduce in a reduce in a reduce',
    json({
      reduce: lambda('a', {
        reduce: lambda('b', { reduce: lambda('c', 1), initial: 0, collection: thousands }),
        initial: 0,
        collection: thousands,
      }),
      initial: 0,
      collection: thousands,
    }),
    '400 bad request',
  ],
  ['the power of powers', json({ pow: 1e308, exp: 1e308 }), 'ok'],
  ['a wide array that is merged', json({ merge: object({}), with: list(50_000, object({ a: 1 })) }), 'ok'],
]

const created = (data: Wire): (() => string) =>
  json({ create: { collection: 'things' }, params: object({ data }) })
const wrapped = (levels: number): Wire => ({
  reduce: { lambda: ['a', '_'], expr: [variable('a')] },
  initial: 1,
  collection: list(levels),
})

const stored: readonly HostileQuery[] = [
  ['a document with a value nested 900 deep', created(object({ v: wrapped(900) })), 'ok'],
  ['a document with a value nested 5000 deep', created(object({ v: wrapped(5000) })), '400 bad request'],
  [
    'a document of more than 8 MiB',
    created(object({ v: { repeat: 'x'.repeat(10_000), number: 1000 } })),
    '400 bad request',
  ],
  [
    'index entries by the million',
    created(object({ a: list(2000).map((_, n) => n), b: list(2000).map((_, n) => n) })),
    '400 bad request',
  ],
  [
    'fields of strange names',
    () =>
      `{"create":{"collection":"things"},"params":{"object":{"data":{"object":{"list":${invalidText},"__proto__":{"object":{"x":1}},"constructor":1,"toString":2,"@ref":3}}}}}`,
    'ok',
  ],
  [
    'an id that is too large',
    json({ create: { ref: { collection: 'things' }, id: '9'.repeat(30) } }),
    '400 invalid argument',
  ],
  [
    'a lambda of 900 levels stored in a document',
    () =>
      `{"create":{"collection":"things"},"params":{"object":{"data":{"object":{"q":{"query":{"lambda":"x","expr":${nested(900, '[', '1', ']')}}}}}}}}`,
    'ok',
  ],
  [
    'all stored documents are read',
    json({
      map: lambda('x', { get: variable('x') }),
      collection: { paginate: { documents: { collection: 'things' } }, size: 1000 },
    }),
    'ok',
  ],
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
