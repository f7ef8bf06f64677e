// No accepted migration loses data that its statements do not name. The random shapes have few names, so that
// undeclared data often exists where a statement adds, moves or splits a field.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GeneratorValue } from 'fast-check'
import { micros } from '../../../../../src/base/micros.ts'
import { parseFsl } from '../../../../../src/fql10/schema/fsl/parse-file.ts'
import {
  type Declaration,
  type DeclaredExpression,
  declarationOfItem,
  type PlannedStep,
} from '../../../../../src/fql10/schema/migrations/declaration.ts'
import { planMigration } from '../../../../../src/fql10/schema/migrations/migration-plan.ts'
import { Source } from '../../../../../src/fql10/syntax/source.ts'
import { readMigration } from '../../../../../src/model/schema/migration-effects.ts'
import { appendSteps, type Step } from '../../../../../src/model/schema/migration-steps.ts'
import { isObject, type ObjectValue, type Value } from '../../../../../src/values/value.ts'
import { fc } from '../../../../support/fast-check.ts'

type Pick = GeneratorValue
type Names = readonly string[]

/** An object type. A field is an object type, or the text of a scalar type. */
interface Shape {
  readonly fields: Map<string, Shape | string>
  isOpen: boolean
  isNullable: boolean
}

const names = ['a', 'b', 'c']
const scalars = ['Int', 'String', 'Int?', 'String?', 'Int | String', 'Any']
const chance = (pick: Pick, percent: number) => pick(fc.nat, { max: 99 }) < percent
const oneOf = <T>(pick: Pick, choices: readonly T[]): T =>
  choices[pick(fc.nat, { max: choices.length - 1 })] as T

function randomShape(pick: Pick, depth: number): Shape {
  const shape: Shape = {
    fields: new Map(),
    isOpen: chance(pick, 50),
    isNullable: depth > 0 && chance(pick, 20),
  }
  for (const name of names) if (chance(pick, 60)) shape.fields.set(name, randomType(pick, depth))
  if (depth === 0 && shape.fields.size === 0) shape.isOpen = true
  return shape
}

function randomType(pick: Pick, depth: number): Shape | string {
  return depth < 2 && chance(pick, 50) ? randomShape(pick, depth + 1) : oneOf(pick, scalars)
}

function typeText(type: Shape | string): string {
  if (typeof type === 'string') return type
  const fields = [...type.fields].map(([name, inner]) => `${name}: ${typeText(inner)}`)
  return `{ ${[...fields, ...(type.isOpen ? ['*: Any'] : [])].join(', ')} }${type.isNullable ? '?' : ''}`
}

function copyOf(shape: Shape): Shape {
  const fields = [...shape.fields].map(
    ([name, type]) => [name, typeof type === 'string' ? type : copyOf(type)] as const,
  )
  return { ...shape, fields: new Map(fields) }
}

/** The objects of a shape, with their paths. */
function structs(shape: Shape, path: Names = []): readonly { readonly path: Names; readonly shape: Shape }[] {
  const inner = [...shape.fields].flatMap(([name, type]) =>
    typeof type === 'string' ? [] : structs(type, [...path, name]),
  )
  return [{ path, shape }, ...inner]
}

// ------------------------------------------------------------------------------------------- statements

const dotted = (path: Names) => path.map(name => `.${name}`).join('')

type ChangeKind = (typeof changeKinds)[number]
const changeKinds = ['add', 'drop', 'move', 'move and drop', 'split', 'conflicts', 'wildcard'] as const

/** Changes a shape, and returns the statements for the change, which may be invalid. */
function change(shape: Shape, pick: Pick): readonly string[] {
  const place = oneOf(pick, structs(shape))
  const other = oneOf(pick, structs(shape))
  const [name, target] = [oneOf(pick, [...names, '_b']), oneOf(pick, names)]
  const [from, to] = [dotted([...place.path, name]), dotted([...other.path, target])]
  const type = place.shape.fields.get(name)
  switch (oneOf<ChangeKind>(pick, changeKinds)) {
    case 'add': {
      const added = randomType(pick, place.path.length)
      place.shape.fields.set(name, added)
      const value = typeof added === 'string' ? (added.startsWith('String') ? '""' : '0') : '{}'
      return chance(pick, 70) ? [`add ${from}`, `backfill ${from} = ${value}`] : [`add ${from}`]
    }
    case 'drop':
      place.shape.fields.delete(name)
      return [`drop ${from}`]
    case 'move':
      place.shape.fields.delete(name)
      other.shape.fields.set(target, type ?? 'Any')
      return [`move ${from} -> ${to}`]
    case 'move and drop': {
      const [root] = place.path
      if (root === undefined) return []
      shape.fields.delete(root)
      shape.fields.set(target, type ?? 'Any')
      return [`move ${from} -> .${target}`, `drop .${root}`]
    }
    case 'split':
      place.shape.fields.set(name, 'Int?')
      other.shape.fields.set(target, chance(pick, 50) ? 'Any' : 'String?')
      return [`split ${from} -> ${from}, ${to}`]
    case 'conflicts':
      shape.fields.set(target, { fields: new Map(), isOpen: true, isNullable: true })
      return chance(pick, 50)
        ? [`add .${target}`, `move_conflicts .${target}`]
        : [`move_conflicts .${target}`]
    case 'wildcard':
      shape.isOpen = false
      shape.fields.set(target, { fields: new Map(), isOpen: true, isNullable: true })
      return chance(pick, 50)
        ? [`add .${target}`, `move_conflicts .${target}`, `move_wildcard .${target}`]
        : [`move_wildcard .${target}`]
  }
}

function declaration(shape: Shape, statements: readonly string[]): Declaration | undefined {
  const fields = [...shape.fields].map(([name, type]) => `  ${name}: ${typeText(type)}\n`)
  const block = statements.length === 0 ? '' : `  migrations {\n    ${statements.join('\n    ')}\n  }\n`
  const text = `collection Jar {\n${fields.join('')}${shape.isOpen ? '  *: Any\n' : ''}${block}}\n`
  const { faults, items } = parseFsl(new Source('main.fsl', text))
  const [item] = items
  return faults.length === 0 && item?.kind === 'collection' ? declarationOfItem(item) : undefined
}

// -------------------------------------------------------------------------------------------- documents

/** Creates data for a shape. Every text and every number in the data is unique. */
class Documents {
  readonly #pick: Pick
  #next = 1000

  constructor(pick: Pick) {
    this.#pick = pick
  }

  of(shape: Shape): Map<string, Value> {
    const data = new Map<string, Value>()
    for (const [name, type] of shape.fields) {
      const value = this.#value(type)
      if (value !== null) data.set(name, value)
    }
    if (!shape.isOpen) return data
    for (const name of [...names, '_b']) {
      if (!shape.fields.has(name) && chance(this.#pick, 50)) data.set(name, this.#any(2))
    }
    return data
  }

  #value(type: Shape | string): Value {
    const isNullable = typeof type === 'string' ? type.endsWith('?') : type.isNullable
    if (isNullable && chance(this.#pick, 40)) return null
    if (typeof type !== 'string') return this.of(type)
    if (type === 'Any') return this.#any(2)
    const isText = type === 'Int | String' ? chance(this.#pick, 50) : type.startsWith('String')
    return isText ? `text ${this.#next++}` : BigInt(this.#next++)
  }

  #any(depth: number): Value {
    if (depth === 0 || chance(this.#pick, 50)) return this.#value(chance(this.#pick, 50) ? 'Int' : 'String')
    const fields = names.filter(() => chance(this.#pick, 50))
    return new Map(fields.map(name => [name, this.#any(depth - 1)]))
  }
}

/** The texts and numbers in data, each with its path. */
function leaves(data: ObjectValue, path: Names = []): readonly (readonly [Value, Names])[] {
  return [...data].flatMap(([name, value]) =>
    isObject(value) ? leaves(value, [...path, name]) : [[value, [...path, name]] as const],
  )
}

// ---------------------------------------------------------------------------------------- what is kept

function withValues(steps: readonly PlannedStep[]): readonly Step[] {
  const value = (expression: DeclaredExpression | undefined): Value => {
    const node = expression?.node
    return node?.kind === 'literal' ? (node.value as Value) : node === undefined ? null : new Map()
  }
  return steps.map((step): Step => {
    if (step.kind === 'add') return { ...step, value: value(step.value) }
    if (step.kind !== 'split') return step
    return { ...step, targets: step.targets.map(target => ({ ...target, value: value(target.value) })) }
  })
}

function migrated(data: ObjectValue, steps: readonly Step[]): ObjectValue {
  const definition = new Map<string, Value>()
  appendSteps(definition, undefined, steps)
  const timed = (definition.get('internal_migrations') as readonly ObjectValue[]).map(step =>
    new Map(step).set('at', 10n),
  )
  const after = readMigration(timed)
    .apply(new Map([['data', data]]), micros(1))
    .get('data')
  return isObject(after ?? null) ? (after as ObjectValue) : new Map()
}

const begins = (path: Names, field: Names) => field.every((name, index) => name === path[index])

/** The possible paths of the data before a step, given its path after the step. */
function pathsBefore(path: Names, step: Step): readonly Names[] {
  const back = (from: Names, to: Names) =>
    begins(path, to) ? [...from, ...path.slice(to.length)] : begins(to, path) ? from : path
  switch (step.kind) {
    case 'move':
      return [path, back(step.from, step.to)]
    case 'split':
      return [path, ...step.targets.map(target => back(step.from, target.path))]
    case 'move conflicts':
    case 'move wildcard':
      return path[0] === step.into ? [[]] : [path]
    default:
      return [path]
  }
}

/** The paths of data that a drop deletes, before the earlier steps. */
function droppedPaths(steps: readonly Step[]): readonly Names[] {
  return steps.flatMap((step, index) => {
    if (step.kind !== 'drop') return []
    let paths: readonly Names[] = [step.path]
    for (const earlier of steps.slice(0, index).toReversed()) {
      paths = paths.flatMap(path => pathsBefore(path, earlier))
    }
    return paths
  })
}

function namedPaths(steps: readonly Step[]): readonly Names[] {
  return steps.flatMap((step): readonly Names[] => {
    if (step.kind === 'move') return [step.from, step.to]
    if (step.kind === 'split') return [step.from, ...step.targets.map(({ path }) => path)]
    return 'path' in step ? [step.path] : [[step.into]]
  })
}

test('a migration keeps data that its statements do not name', t => {
  let accepted = 0
  const property = fc.property(fc.gen(), pick => {
    const before = randomShape(pick, 0)
    const after = copyOf(before)
    const statements = Array.from({ length: 1 + pick(fc.nat, { max: 2 }) }).flatMap(() => change(after, pick))
    const [live, submitted] = [declaration(before, []), declaration(after, statements)]
    if (live === undefined || submitted === undefined) return
    const { faults, steps: planned } = planMigration(submitted, live, () => undefined)
    if (faults.length > 0 || planned.length === 0) return
    accepted++
    const steps = withValues(planned)
    const data = new Documents(pick).of(before)
    const result = new Map(leaves(migrated(data, steps)))
    const [dropped, named] = [droppedPaths(steps), namedPaths(steps)]
    const movesWildcard = steps.some(({ kind }) => kind === 'move wildcard')
    for (const [value, path] of leaves(data)) {
      if (dropped.some(each => begins(path, each))) continue
      const found = result.get(value)
      const message = `${value} at ${dotted(path)} of ${typeText(before)} is lost by ${statements.join('; ')}`
      assert.ok(found !== undefined, message)
      const isNamed = named.some(each => begins(path, each) || begins(each, path))
      if (!isNamed && !movesWildcard) assert.deepEqual(found, path, message)
    }
  })
  fc.assert(property, { seed: 20_261_126, numRuns: 5_000 })
  t.diagnostic(`${accepted} migrations were accepted`)
  assert.ok(accepted > 200, `only ${accepted} migrations were accepted`)
})
