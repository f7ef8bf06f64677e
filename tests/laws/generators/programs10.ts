// Generates programs of version 10 without arguments of type `Any`. Each program is built from a list of numbers, the
// choices at each node of its syntax tree, so a smaller list is a smaller program.

import { fc } from '../../support/fast-check.ts'

export const programSchema = `collection User {
  name: String
  age: Int?
  address: { street: String, zip: Int? }
  friend: Ref<User>?
  index byName { terms [.name] }
}
function older(age: Number): Number { age + 1 }
function pair(x) { [x, { a: x }] }
`

const fields = ['a', 'b', 'name', 'age', 'address', 'street', 'zip', 'friend', 'length', 'id'] as const
const localNames = ['x', 'y', 'z'] as const

/** Builds a program. The nodes use the numbers in order. After the last number, all choices are 0. */
class Builder {
  readonly #choices: readonly number[]
  #at = 0

  constructor(choices: readonly number[]) {
    this.#choices = choices
  }

  #choose(options: number): number {
    return (this.#choices[this.#at++] ?? 0) % options
  }

  #field(): string {
    return fields[this.#choose(fields.length)] as string
  }

  /** A name, mostly one that is in scope. */
  #name(scope: readonly string[]): string {
    return scope[this.#choose(scope.length + 1)] ?? '1'
  }

  expression(depth: number, scope: readonly string[]): string {
    if (depth === 0 || this.#at >= this.#choices.length) return this.#leaf(scope)
    const inner = () => this.expression(depth - 1, scope)
    const field = () => this.#field()
    const local = localNames[this.#choose(localNames.length)] as string
    const within = () => this.expression(depth - 1, [...scope, local])
    const forms: readonly (() => string)[] = [
      () => this.#leaf(scope),
      () => `{ a: ${inner()}, b: ${inner()} }`,
      () => `[${inner()}, ${inner()}]`,
      () => `(${inner()}).${field()}`,
      () => `(${inner()})!.${field()}`,
      () => `(${inner()})?.${field()}`,
      () => `(${inner()} ?? ${inner()})`,
      () => `(${inner()} + ${inner()})`,
      () => `(if (${inner()} == ${inner()}) ${inner()} else ${inner()})`,
      () => `{\nlet ${local} = ${inner()}\n${within()}\n}`,
      () => `(${local} => ${within()})(${inner()})`,
      () => `[${inner()}].map(${local} => ${within()})`,
      () => `(${inner()}).map(${local} => ${within()})`,
      () => `(${inner()}) { a: .${field()}, b: .${field()} }`,
      () => `[${inner()}, ${inner()}].first()`,
      () => `older(${inner()})`,
      () => `pair(${inner()})`,
      () => `User.byId("${1 + this.#choose(3)}")`,
      () => `User.where(${local} => ${within()} == ${inner()}).first()`,
      () => `User.byName(${inner()}).toArray()`,
    ]
    return (forms[this.#choose(forms.length)] as () => string)()
  }

  #leaf(scope: readonly string[]): string {
    const leaves: readonly (() => string)[] = [
      () => this.#name(scope),
      () => `${this.#choose(5)}`,
      () => '"text"',
      () => 'null',
      () => 'true',
      () => 'User.byId("1")',
      () => 'User.byId("2")!',
      () => 'User.all().first()',
    ]
    return (leaves[this.#choose(leaves.length)] as () => string)()
  }
}

/** Random programs. About a third of them have no type error. */
export const programs: fc.Arbitrary<string> = fc
  .array(fc.nat(999), { minLength: 5, maxLength: 60 })
  .map(choices => new Builder(choices).expression(5, []))
