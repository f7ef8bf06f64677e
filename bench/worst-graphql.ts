// Permitted GraphQL requests that are as expensive for the service as we can make them, like the queries in
// worst-queries.ts. They use the collection `worst`, which the preparation of those queries fills. Mutations and imports
// are invalid, so that they change nothing. Requests that test validation have a new GraphQL document each time, because
// the service remembers valid documents.

export interface WorstGraphql {
  readonly name: string
  readonly path: '/graphql' | '/import?mode=merge'
  readonly body: (n: number) => string
}

const types = 60

/** Many types make validation compare many names. */
export const worstSdl = `
type Worst @collection(name: "worst") { group: Int text: String parent: Worst }
${Array.from({ length: types }, (_, n) => `type Kind${n} { name${n}: String! worst${n}: Worst kinds${n}: [Kind${(n + 1) % types}!] @relation(name: "r${n}") }`).join('\n')}
type Query { worstByGroup(group: Int!): [Worst!] ${Array.from({ length: types }, (_, n) => `allKinds${n}(name${n}: String): [Kind${n}!]`).join(' ')} }`

const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ')

/** Returns the body of a request whose GraphQL document differs for each `n`. */
const fresh = (n: number, text: string) => JSON.stringify({ query: `# ${n}\n${text}` })

const blanks = 2_097_152

export const worstGraphql: readonly WorstGraphql[] = [
  {
    name: 'graphql: a field repeated, in a short text',
    path: '/graphql',
    body: n => fresh(n, `{ worstByGroup(group: 1) { ${times(95, () => 'data { text text }')} } }`),
  },
  {
    name: 'graphql: fragments that spread each other',
    path: '/graphql',
    body: n => {
      const fragments = times(
        11,
        at => `fragment F${at} on Worst { text ...F${at + 1} ...F${at + 1} parent { ...F${at + 1} } }`,
      )
      return fresh(
        n,
        `{ worstByGroup(group: 1) { data { ...F0 } } } ${fragments} fragment F11 on Worst { group }`,
      )
    },
  },
  {
    name: 'graphql: fragments with equal fields',
    path: '/graphql',
    body: n => {
      const fragments = times(
        95,
        at => `fragment F${at} on Worst { text group parent { text parent { text } } }`,
      )
      return fresh(n, `{ worstByGroup(group: 1) { data { ${times(95, at => `...F${at}`)} } } } ${fragments}`)
    },
  },
  {
    name: 'graphql: many aliases',
    path: '/graphql',
    body: n =>
      fresh(n, `{ ${times(250, at => `a${at}: worstByGroup(group: ${at}, _size: 1) { b${at}: after }`)} }`),
  },
  {
    name: 'graphql: many unknown fields',
    path: '/graphql',
    body: n => fresh(n, `{ ${times(1000, at => `alKinds${at}x { name }`)} }`),
  },
  {
    name: 'graphql: many tokens',
    path: '/graphql',
    body: n => fresh(n, `{ worstByGroup(group: [${'1 '.repeat(9900)}]) { after } }`),
  },
  {
    name: 'graphql: a long text of blanks',
    path: '/graphql',
    body: n => fresh(n, `${' '.repeat(blanks)}{ worstByGroup(group: 1) { after } }`),
  },
  {
    name: 'graphql: nested pages',
    path: '/graphql',
    body: () =>
      JSON.stringify({
        query:
          '{ worstByGroup(group: 1, _size: 1000) { data { parent { text } text group } } b: worstByGroup(group: 2, _size: 1000) { data { parent { text } text group } } }',
      }),
  },
  {
    name: 'graphql: large pages',
    path: '/graphql',
    body: () =>
      JSON.stringify({
        query: `{ ${times(100, at => `a${at}: worstByGroup(group: ${at}, _size: 100000) { data { text group _id _ts } }`)} }`,
      }),
  },
  {
    name: 'graphql: introspection',
    path: '/graphql',
    body: n =>
      fresh(
        n,
        `{ ${times(10, at => `s${at}: __schema { types { name fields { name type { name ofType { name ofType { name } } } args { name } } } }`)} }`,
      ),
  },
  {
    name: 'graphql: a wide input',
    path: '/graphql',
    body: n =>
      fresh(
        n,
        `mutation { createKind0(data: {name0: "a", kinds0: {create: [${times(300, at => `{name1: "${at}", kinds1: {create: [{name2: "x"}, {name2: "y"}]}}`)}]}}) { _id } unknown }`,
      ),
  },
  {
    name: 'graphql: large variables',
    path: '/graphql',
    body: n =>
      JSON.stringify({
        query: `# ${n}\nquery($name: String) { allKinds0(name0: $name) { after } }`,
        variables: { name: 'x'.repeat(60_000), unused: Array.from({ length: 60_000 }, (_, at) => ({ at })) },
      }),
  },
  {
    name: 'graphql: imports of a schema with many types',
    path: '/import?mode=merge',
    body: n =>
      `${times(900, at => `type T${at} { f${n}: Int${at === 899 ? ' broken: Missing' : ''} a: T${(at + 1) % 900} b: [T${(at + 2) % 900}!] @relation(name: "x${at}") }\n`)}`,
  },
  {
    name: 'graphql: imports of an ambiguous schema',
    path: '/import?mode=merge',
    body: n =>
      `type A { x${n}: Int ${times(1500, at => `f${at}: B`)} } type B { ${times(1500, at => `g${at}: [A!] @relation(name: "n${at}")`)} bad: Missing }`,
  },
]
