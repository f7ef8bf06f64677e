// Permitted queries that are as expensive for the service as we can make them. The benchmark sends them beside another
// tenant's reads; the tests send smaller ones and compare the responses of the slow lane with those of the service.

export interface Sizes {
  /** Number of times that an array of 8 elements is doubled; 16 gives half a million elements. */
  readonly doublings: number
  /** UTF-16 units of long texts, below 8 MiB. */
  readonly text: number
  /** The number of elements to which lambdas are applied. */
  readonly elements: number
  /** The number of nested calls. */
  readonly depth: number
  /** Number of sets in a union. */
  readonly sets: number
  /** Number of documents in the collection `worst`. */
  readonly documents: number
  /** Bytes of a long request. */
  readonly body: number
}

/** The largest sizes that the limits of the service permit. */
export const largest: Sizes = {
  doublings: 16,
  text: 8_000_000,
  elements: 2000,
  depth: 450,
  sets: 90_000,
  documents: 100_000,
  body: 8_000_000,
}

type Wire = unknown

export interface WorstQuery {
  readonly name: string
  readonly query: (sizes: Sizes) => Wire
  readonly writes?: boolean
}

const variable = (name: string): Wire => ({ var: name })
const lambda = (parameter: string | readonly string[], expr: Wire): Wire => ({ lambda: parameter, expr })
const object = (fields: Record<string, Wire>): Wire => ({ object: fields })
const collection = { collection: 'worst' }
const byGroup = { index: 'worst_by_group' }
const times = (count: number, element: Wire = 0): Wire[] => Array(count).fill(element)

/** Applies `expr` to the variable `x` repeatedly. */
const repeatedly = (count: number, initial: Wire, expr: Wire): Wire => ({
  reduce: lambda(['x', '_'], expr),
  initial,
  collection: times(count),
})

const longArray = ({ doublings }: Sizes): Wire =>
  repeatedly(doublings, [1, 2, 3, 4, 5, 6, 7, 8], { append: variable('x'), collection: variable('x') })

const sharedArray = ({ doublings }: Sizes): Wire =>
  repeatedly(doublings, ['x'], [variable('x'), variable('x')])

/** Repeats `piece` up to the length. */
function longText({ text }: Sizes, piece: string): Wire {
  const inner = Math.min(1024, Math.max(1, Math.floor(Math.sqrt(text / piece.length))))
  const outer = Math.min(1024, Math.max(1, Math.floor(text / piece.length / inner)))
  const whole = { repeat: { repeat: piece, number: inner }, number: outer }
  const rest = Math.max(1, Math.min(1024, Math.floor(text / (piece.length * inner * outer))))
  return { repeat: whole, number: rest }
}

const each = ({ elements }: Sizes, expr: Wire): Wire => ({
  map: lambda('_', expr),
  collection: times(elements),
})

const withTwoArrays = (sizes: Sizes, expr: Wire): Wire => ({
  let: [{ a: longArray(sizes) }, { b: longArray(sizes) }],
  in: each(sizes, expr),
})

const withText = (sizes: Sizes, piece: string, expr: Wire): Wire => ({
  let: [{ t: longText(sizes, piece) }],
  in: expr,
})

const both = [variable('a'), variable('b')]
const page = (set: Wire, size: number): Wire => ({ paginate: set, size })
const match = (group: Wire): Wire => ({ match: byGroup, terms: group })

const comparisons: readonly WorstQuery[] = [
  ...['lt', 'lte', 'equals'].map(name => ({
    name: `long arrays: ${name}`,
    query: (sizes: Sizes) => withTwoArrays(sizes, { [name]: both }),
  })),
  {
    name: 'long arrays: contains_value',
    query: sizes => withTwoArrays(sizes, { contains_value: -1, in: variable('a') }),
  },
  ...['union', 'intersection', 'difference'].map(name => ({
    name: `long arrays: ${name}`,
    query: (sizes: Sizes) => withTwoArrays(sizes, { count: { [name]: both } }),
  })),
  { name: 'long arrays: distinct', query: sizes => ({ distinct: longArray(sizes) }) },
  {
    name: 'long arrays: max',
    query: sizes => withTwoArrays(sizes, { count: [{ max: [both, both] }] }),
  },
  {
    name: 'long arrays: append',
    query: sizes => withTwoArrays(sizes, { count: { append: 1, collection: variable('a') } }),
  },
  {
    name: 'long arrays: a long response',
    query: sizes => withTwoArrays({ ...sizes, elements: 4 }, variable('a')),
  },
  {
    name: 'long arrays: map',
    query: sizes => ({
      sum: {
        map: lambda('n', { add: [variable('n'), 1] }),
        collection: { take: 99_999, collection: longArray(sizes) },
      },
    }),
  },
]

const sharing: readonly WorstQuery[] = [
  {
    name: 'shared parts: distinct',
    query: sizes => ({ count: { distinct: [sharedArray(sizes), sharedArray(sizes)] } }),
  },
  { name: 'shared parts: equals', query: sizes => ({ equals: [sharedArray(sizes), sharedArray(sizes)] }) },
  { name: 'shared parts: a long response', query: sharedArray },
  {
    name: 'shared parts: captured by a lambda',
    query: sizes => ({
      let: [{ v: sharedArray(sizes) }],
      in: {
        is_empty: {
          filter: lambda('d', { equals: [variable('d'), variable('v')] }),
          collection: { documents: collection },
        },
      },
    }),
  },
  { name: 'shared parts: as a term', query: sizes => ({ is_empty: match(sharedArray(sizes)) }) },
]

const texts: readonly WorstQuery[] = [
  ...['NFC', 'NFD', 'NFKC', 'NFKCCaseFold'].map(normalizer => ({
    name: `long texts: ${normalizer} of marks`,
    query: (sizes: Sizes) =>
      withText(sizes, '\u0301\u0323', { length: { casefold: variable('t'), normalizer } }),
  })),
  ...['casefold', 'uppercase', 'titlecase', 'length'].map(name => ({
    name: `long texts: ${name}`,
    query: (sizes: Sizes) =>
      withText(
        sizes,
        'Straße ǆ ',
        name === 'length' ? { length: variable('t') } : { length: { [name]: variable('t') } },
      ),
  })),
  {
    name: 'long texts: a long search text',
    query: sizes =>
      withText(sizes, 'a', {
        containsstr: variable('t'),
        search: { concat: ['b', { repeat: 'a', number: 1024 }] },
      }),
  },
  {
    name: 'long texts: all occurrences replaced',
    query: sizes => withText(sizes, 'ab', { length: { replacestr: variable('t'), find: 'a', replace: 'b' } }),
  },
  {
    name: 'long texts: n-grams',
    query: sizes => withText({ ...sizes, text: sizes.text / 32 }, 'abc', { count: { ngram: variable('t') } }),
  },
  {
    name: 'long texts: compared',
    query: sizes => withText(sizes, 'é', { lt: [variable('t'), { concat: [variable('t'), 'x'] }] }),
  },
  {
    name: 'patterns: a match of a whole long text',
    query: sizes => withText(sizes, 'ab', { containsstrregex: variable('t'), pattern: '(a|b)*c' }),
  },
  {
    name: 'patterns: backtracking',
    query: sizes =>
      withText({ ...sizes, text: Math.min(sizes.text, 2000) }, 'a', {
        containsstrregex: variable('t'),
        pattern: '^(?=(a+)+b)',
      }),
  },
  {
    name: 'patterns: a scan ahead for each match',
    query: sizes =>
      withText({ ...sizes, text: Math.min(sizes.text / 40, 8000) }, 'a', {
        replacestrregex: variable('t'),
        pattern: 'a[^b]*b|a',
        replace: '',
      }),
  },
  {
    name: 'patterns: large character classes',
    query: sizes => ({
      containsstrregex: 'x',
      pattern: { repeat: '(?i)[\\P{L}\\P{M}&&[^\\p{Lu}]]', number: Math.min(sizes.elements, 40) },
    }),
  },
  {
    name: 'patterns: many long patterns',
    query: sizes => ({
      map: lambda('n', {
        containsstrregex: 'x',
        pattern: { concat: [{ repeat: '(a|b)?', number: 900 }, { to_string: variable('n') }] },
      }),
      collection: Array.from({ length: Math.min(sizes.elements, 100) }, (_, at) => at),
    }),
  },
]

const sets: readonly WorstQuery[] = [
  {
    name: 'sets: a union of many sets',
    query: sizes => page({ union: Array.from({ length: sizes.sets }, (_, at) => match(at % 100)) }, 10),
  },
  {
    name: 'sets: an intersection of many sets',
    query: sizes =>
      page({ intersection: Array.from({ length: Math.min(sizes.sets, 2000) }, () => match(1)) }, 10),
  },
  { name: 'sets: a long page', query: sizes => page({ documents: collection }, sizes.documents) },
  {
    name: 'sets: a long page of documents',
    query: sizes => ({
      map: lambda('r', { get: variable('r') }),
      collection: page({ documents: collection }, sizes.documents),
    }),
  },
  {
    name: 'sets: a filter without matches',
    query: () =>
      page(
        { filter: lambda('r', { equals: [variable('r'), 0] }), collection: { documents: collection } },
        64,
      ),
  },
  {
    name: 'sets: a cross join',
    query: () => ({
      count: { join: { documents: collection }, with: lambda('r', { singleton: variable('r') }) },
    }),
  },
  {
    name: 'sets: a long history',
    query: sizes => page({ events: { documents: collection } }, sizes.documents),
  },
  {
    name: 'sets: nested differences',
    query: sizes => ({
      is_empty: Array.from({ length: Math.min(sizes.depth, 100) }).reduce<Wire>(
        set => ({ difference: [{ documents: collection }, set] }),
        { documents: collection },
      ),
    }),
  },
]

const nested: readonly WorstQuery[] = [
  {
    name: 'nesting: pages in cursors',
    query: sizes =>
      Array.from({ length: sizes.depth }).reduce<Wire>(
        inner => ({ paginate: { documents: collection }, after: inner, size: 1 }),
        null,
      ),
  },
  {
    name: 'nesting: nested maps',
    query: sizes =>
      Array.from({ length: 5 }).reduce<Wire>(
        inner => ({ map: lambda('x', inner), collection: times(Math.min(10, sizes.elements)) }),
        1,
      ),
  },
  {
    name: 'nesting: a long path for many values',
    query: sizes => ({
      let: [{ a: longArray(sizes) }, { p: { map: lambda('_', 'x'), collection: times(sizes.elements) } }],
      in: { count: { select_all: variable('p'), from: variable('a') } },
    }),
  },
  {
    name: 'nesting: merges',
    query: sizes => ({
      let: [
        {
          o: {
            to_object: {
              map: lambda('n', [{ to_string: variable('n') }, 1]),
              collection: Array.from({ length: sizes.elements * 5 }, (_, at) => at),
            },
          },
        },
      ],
      in: { count: each(sizes, { merge: variable('o'), with: variable('o') }) },
    }),
  },
  {
    name: 'bodies: a long let',
    query: ({ body }) => ({
      let: Array.from({ length: Math.min(90_000, Math.floor(body / 80)) }, (_, at) => ({ [`v${at}`]: at })),
      in: Array.from({ length: Math.min(90_000, Math.floor(body / 80)) }, (_, at) => variable(`v${at}`)),
    }),
  },
  { name: 'bodies: a long array', query: ({ body }) => Array(Math.floor(body / 2)).fill(1) },
  {
    name: 'bodies: objects',
    query: ({ body }) => Array(Math.floor(body / 30)).fill(object({ a: object({}) })),
  },
  {
    name: 'bodies: nested arrays',
    query: sizes => {
      const deep = Array.from({ length: 2 * sizes.depth }).reduce<Wire>(inner => [inner], 1)
      return times(Math.min(120, Math.ceil(sizes.body / 2000)), deep)
    },
  },
  { name: 'bodies: a long text', query: ({ body }) => 'é'.repeat(Math.floor(body / 2) - 4) },
]

const writes: readonly WorstQuery[] = [
  {
    name: 'writes: very many documents',
    writes: true,
    query: sizes => ({
      count: {
        map: lambda('_', { create: collection, params: object({ data: object({ group: 7 }) }) }),
        collection: times(Math.min(sizes.documents, 20_000)),
      },
    }),
  },
  {
    name: 'writes: one large document',
    writes: true,
    query: sizes => ({
      select: ['ref', 'collection'],
      from: {
        create: collection,
        params: object({
          data: object({ text: longText({ ...sizes, text: Math.min(sizes.text, 7_000_000) }, 'long ') }),
        }),
      },
    }),
  },
  {
    name: 'writes: after a long evaluation',
    writes: true,
    query: sizes => ({
      let: [{ c: withTwoArrays(sizes, { lt: both }) }],
      in: {
        select: ['ref', 'collection'],
        from: { create: collection, params: object({ data: object({ group: 8 }) }) },
      },
    }),
  },
]

export const worstQueries: readonly WorstQuery[] = [
  ...comparisons,
  ...sharing,
  ...texts,
  ...sets,
  ...nested,
  ...writes,
]

/** Returns queries that create the data for the other queries. */
export function preparation({ documents }: Sizes): readonly Wire[] {
  const batch = 5000
  const batches = Array.from({ length: Math.ceil(documents / batch) }, (_, at) => {
    const size = Math.min(batch, documents - at * batch)
    const params = object({ data: object({ group: { modulo: [variable('n'), 100] }, text: 'some words' }) })
    return {
      foreach: lambda('n', { create: collection, params }),
      collection: Array.from({ length: size }, (_, n) => n),
    }
  })
  return [
    { create_collection: object({ name: 'worst' }) },
    {
      create_index: object({
        name: 'worst_by_group',
        source: { collection: 'worst' },
        terms: [object({ field: ['data', 'group'] })],
      }),
    },
    ...batches,
  ]
}
