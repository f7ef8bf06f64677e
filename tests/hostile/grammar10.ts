// Generates queries of version 10 from its grammar and the tables of its library. Most arguments have the right types,
// because nonsense would be rejected too early.

import type { FunctionDefinition, Members } from '../../src/fql10/library/entry.ts'
import { allTables } from '../../src/fql10/library/tables.ts'
import type { RandomSource } from '../support/random-source.ts'

/** Expressions of each type that need no other expressions. */
const literals: Readonly<Record<string, readonly string[]>> = {
  Null: ['null', '{}.none', '[].first()'],
  Boolean: ['true', 'false'],
  Number: '0 1 -1 3 16 2147483647 -2147483648 9223372036854775807 1e308 0.1 2.5 Math.NaN Math.Infinity'.split(
    ' ',
  ),
  String: [
    '""',
    '"a"',
    '"a😀b"',
    '"[0-9]+"',
    '"(a|b)*c"',
    '"day"',
    '"2024-02-29"',
    '"#{1 + 1}x"',
    '"NFC"',
    '"12.5"',
  ],
  Array: ['[]', '[1, "a", null]', '[3, 1, 2]', '["b", "a"]', '[["a", 1]]', '[[1], [2]]'],
  Object: ['{}', '{ a: 1, "b c": [2] }', '{ a: { b: null } }'],
  Time: ['Time("2024-02-29T12:00:00Z")', 'Time.now()', 'Time("-999999999-01-01T00:00:00Z")'],
  Date: ['Date("2024-02-29")', 'Date.today()'],
  Bytes: ['Bytes("AQI=")'],
  ID: ['ID("7")', 'newId()'],
  TransactionTime: ['TransactionTime()'],
  Set: ['[3, 1, 2].toSet()', 'Set.sequence(0, 20)', 'Set.single("a")', '[].toSet()'],
  Data: [
    'Author',
    'Author.all()',
    'Author.byId(1)',
    'Collection',
    'Collection.all()',
    'Nobody',
    'Query.identity()',
    'Author.byA(1, { from: 2 })',
    'Author.where(.a == 1)',
    'Author.create({ a: newId(), me: Author.byId(3) })',
    'Author.definition',
    'Author.definition.update({ constraints: [{ unique: ["a"] }] })',
    'Collection.create({ name: "C#{newId()}", fields: { n: { signature: "Int", default: "1" } } })',
    'Credential.create({ document: Author.byId(4), password: "x" })',
    'Function.byName("twice")',
    'Function.create({ name: "f#{newId()}", body: "x => twice(x)", role: "client" })',
    'FQL.Schema.defForIdentifier("twice")',
    'Key.create({ role: "server" })',
    'Role.create({ name: "r#{newId()}", privileges: { resource: "Author", actions: { read: "_ => true" } } })',
    'Token.create({ document: Author.byId(5) })',
    'twice',
  ],
}
const types = Object.keys(literals)
const units = ['"days"', '"nanoseconds"', '"seconds"', '"weeks"', '" hours "']
const operators = ['==', '!=', '<', '<=', '>', '>=', '??', 'isa', '+', '&&', '**']
const arithmetic = ['+', '-', '*', '/', '%', '**', '&', '|', '^']

/** The type of `literals` for a type's name in the library. */
function typeOf(name: string): string | undefined {
  if (/^(Int|Long|Double|Float|Number)\b/.test(name)) return 'Number'
  if (name.startsWith('{')) return 'Object'
  return types.find(type => name.startsWith(type))
}

/** The type of `literals` for the result of a function; the last result of an overload. */
function resultOf({ type }: FunctionDefinition): string | undefined {
  return typeOf(type.split(' => ').at(-1) ?? '')
}

interface Callable {
  readonly table: Members
  readonly definition: FunctionDefinition
}

const callables: readonly Callable[] = allTables.flatMap(table =>
  [...table.entries.values(), ...(table.apply === undefined ? [] : [table.apply])].flatMap(entry =>
    entry.kind === 'function' ? [{ table, definition: entry }] : [],
  ),
)
const fields = allTables.flatMap(table =>
  [...table.entries.values()].flatMap(entry => (entry.kind === 'field' ? [{ table, name: entry.name }] : [])),
)
/** Of the tables with the same name, the first is the table of the module. */
const modules: ReadonlySet<Members> = new Set(
  allTables.filter((table, at) => allTables.findIndex(({ name }) => name === table.name) === at),
)

/** Generates queries; the same random numbers give the same queries. */
export class QueryMaker {
  readonly #random: RandomSource
  #variables: readonly string[] = []

  constructor(random: RandomSource) {
    this.#random = random
  }

  query(): string {
    this.#variables = []
    const statements = Array.from({ length: this.#random.below(3) }, () => {
      const name = `v${this.#variables.length}`
      const statement = `let ${name} = ${this.#any(3)}`
      this.#variables = [...this.#variables, name]
      return statement
    })
    return [...statements, this.#any(4)].join('\n')
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)] as T
  }

  #oneIn(chances: number): boolean {
    return this.#random.below(chances) === 0
  }

  #any(depth: number): string {
    return this.#of(this.#pick(types), depth)
  }

  /** An expression that usually has the wanted type. */
  #of(wanted: string | undefined, depth: number): string {
    const type = wanted === undefined || this.#oneIn(25) ? this.#pick(types) : wanted
    if (this.#variables.length > 0 && this.#oneIn(10)) return this.#pick(this.#variables)
    if (depth <= 0 || this.#oneIn(4)) return this.#pick(literals[type] as readonly string[])
    if (this.#oneIn(3)) return this.#composed(type, depth - 1)
    const giving = callables.filter(({ definition }) => resultOf(definition) === type)
    return this.#call(this.#pick(giving.length > 0 ? giving : callables), depth - 1)
  }

  #composed(type: string, depth: number): string {
    switch (this.#random.below(9)) {
      case 0:
        return `if (${this.#of('Boolean', depth)}) ${this.#of(type, depth)} else ${this.#of(type, depth)}`
      case 1:
        return `at (${this.#of('Time', depth)}) { ${this.#of(type, depth)} }`
      case 2:
        return `(${this.#of('Object', depth)}) { a, c: ${this.#any(depth)}, d: .a }`
      case 3:
        return `(${this.#of('Array', depth)})[${this.#of('Number', depth)}]`
      case 4:
        return `[${this.#any(depth)}, ${this.#of(type, depth)}]`
      case 5:
        return `{ a: ${this.#of(type, depth)}, b: ${this.#any(depth)} }`
      case 6:
        return `(${this.#of('Number', depth)} ${this.#pick(arithmetic)} ${this.#of('Number', depth)})`
      case 7: {
        const { name, table } = this.#pick(fields)
        return `(${this.#receiver(table, depth)})${this.#pick(['.', '?.'])}${name}`
      }
      default:
        return `(${this.#of(type, depth)} ${this.#pick(operators)} ${this.#of(type, depth)})`
    }
  }

  #receiver(table: Members, depth: number): string {
    if (modules.has(table) && table.name !== 'globals') return table.name
    return `(${this.#of(typeOf(table.name), depth)})`
  }

  #call({ definition, table }: Callable, depth: number): string {
    const { name, signatures } = definition
    const { parameters, rest } = this.#pick(signatures)
    const given = rest === undefined ? parameters : Array.from({ length: this.#random.below(3) }, () => rest)
    const args = given.map(([label, parameter]) =>
      parameter.callback !== undefined
        ? this.#lambda(parameter.callback.count, depth)
        : label === 'unit'
          ? this.#pick(units)
          : this.#of(typeOf(parameter.type), depth),
    )
    if (this.#oneIn(30)) args.push(this.#any(depth))
    const list = `(${args.join(', ')})`
    if (table.name === 'globals') return `${name}${list}`
    const receiver = this.#receiver(table, depth)
    return name === 'apply' ? `${receiver}${list}` : `${receiver}.${name}${list}`
  }

  #lambda(count: number, depth: number): string {
    if (count === 1 && this.#oneIn(8)) return '.a'
    const outer = this.#variables
    const parameters = Array.from({ length: count }, (_, at) => `x${outer.length + at}`)
    this.#variables = [...outer, ...parameters]
    const body = this.#oneIn(2) ? `${parameters[0]} == ${this.#any(0)}` : this.#any(depth - 1)
    this.#variables = outer
    return `(${parameters.join(', ')}) => (${body})`
  }
}
