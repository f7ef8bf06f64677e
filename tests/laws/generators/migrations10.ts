// Migrations of the collection `Row`, and their effect on its fields and documents. Fields and documents are flat:
// names are paths such as `o.a`.

import { fc } from '../../support/fast-check.ts'

/** The types of the declared fields by path, with their defaults. */
export type Fields = Readonly<Record<string, string>>

export type Scalar = number | string | boolean

/** The values of a document by path. Absent fields are missing. */
export type Row = Readonly<Record<string, Scalar>>

export interface Migration {
  readonly statements: readonly string[]
  readonly isPossible: (fields: Fields) => boolean
  readonly fields: (fields: Fields) => Fields
  /** The effect on a document. */
  readonly row: (row: Row) => Row
}

function without<T>(path: string, { [path]: _, ...others }: Readonly<Record<string, T>>): Record<string, T> {
  return others
}

function add(path: string, type: string, value: Scalar, ...backfill: readonly string[]): Migration {
  return {
    statements: [`add .${path}`, ...backfill],
    isPossible: fields => !(path in fields),
    fields: fields => ({ ...fields, [path]: type }),
    row: row => ({ ...row, [path]: value }),
  }
}

/** Drops a field and adds it with another type, in one push. */
function retype(path: string, type: string, value: Scalar): Migration {
  return {
    statements: [`drop .${path}`, `add .${path}`],
    isPossible: fields => path in fields,
    fields: fields => ({ ...fields, [path]: type }),
    row: row => ({ ...row, [path]: value }),
  }
}

function move(from: string, to: string): Migration {
  const renamed = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
    from in all ? { ...without(from, all), [to]: all[from] as T } : { ...all }
  return {
    statements: [`move .${from} -> .${to}`],
    isPossible: fields => from in fields && !(to in fields),
    fields: renamed,
    row: renamed,
  }
}

function drop(path: string): Migration {
  return {
    statements: [`drop .${path}`],
    isPossible: fields => path in fields,
    fields: fields => without(path, fields),
    row: row => without(path, row),
  }
}

interface Target {
  readonly path: string
  readonly type: string
  /** The value of documents that have no value of this type. */
  readonly otherwise?: Scalar
}

/** Moves the value of the field `u` to the first target that has its type. */
function split(...targets: readonly Target[]): Migration {
  return {
    statements: [`split .u -> ${targets.map(({ path }) => `.${path}`).join(', ')}`],
    isPossible: ({ u, ...others }) => u === union && targets.every(({ path }) => !(path in others)),
    fields: fields => ({
      ...without('u', fields),
      ...Object.fromEntries(targets.map(({ path, type }) => [path, type])),
    }),
    row({ u, ...row }) {
      const chosen = targets.find(({ type }) => u !== undefined && valuesOf(type).includes(u))
      const entries = targets.map(({ otherwise, path, type }) => {
        return [path, type === chosen?.type ? u : otherwise] as const
      })
      return { ...row, ...Object.fromEntries(entries.filter(isPresent)) }
    },
  }
}

const isPresent = (entry: readonly [string, Scalar | undefined]): entry is [string, Scalar] =>
  entry[1] !== undefined

const union = 'Int | String | Boolean | Null'

/** The values that documents have in fields of a type. Null removes a field. */
const values: Readonly<Record<string, readonly (Scalar | null)[]>> = {
  Int: [0, 1, 2],
  'Int?': [0, 1, 2, null],
  String: ['x', 'y', 'b'],
  'String?': ['x', 'y', null],
  'Boolean?': [true, null],
  'String | Boolean | Null': ['x', 'y', true, null],
  [union]: [0, 1, 'x', 'y', true, null],
}

/** Some values of a declared type. */
export function valuesOf(type: string): readonly (Scalar | null)[] {
  return values[type.split(' = ')[0] as string] as readonly (Scalar | null)[]
}

/** The fields before all migrations. */
export const originalFields: Fields = {
  n: 'Int',
  g: 'String?',
  u: union,
  'o.a': 'Int?',
  'o.k': 'Int',
}

const migrations: readonly Migration[] = [
  add('added', 'Int = 2', 2),
  add('filled', 'String', 'b', 'backfill .filled = "b"'),
  add('o.more', 'Int = 1', 1),
  add('g', 'Int = 1', 1),
  retype('g', 'Int = 1', 1),
  move('n', 'moved'),
  move('i', 'moved_i'),
  move('o.a', 'o.moved'),
  move('o.a', 'a'),
  drop('g'),
  drop('s'),
  drop('o.a'),
  split({ path: 'i', type: 'Int?' }, { path: 's', type: 'String | Boolean | Null' }),
  split({ path: 'u', type: 'Int = 0', otherwise: 0 }, { path: 's', type: 'String | Boolean | Null' }),
  split({ path: 's', type: 'String?' }, { path: 'i', type: 'Int?' }, { path: 'b', type: 'Boolean?' }),
  split(
    { path: 'b', type: 'Boolean?' },
    { path: 'i', type: 'Int?' },
    { path: 's', type: 'String = "x"', otherwise: 'x' },
  ),
]

/** The maximum number of migrations of a list. */
export const migrationsMax = 6

/** Migrations that are possible one after the other. */
export const migrationLists: fc.Arbitrary<readonly Migration[]> = fc
  .array(fc.constantFrom(...migrations), { maxLength: 2 * migrationsMax, size: 'max' })
  .map(all => {
    let fields = originalFields
    return all.filter(each => {
      if (!each.isPossible(fields)) return false
      fields = each.fields(fields)
      return true
    })
  })
  .map(all => all.slice(0, migrationsMax))

/** The schema file after migrations, with an index for each field. */
export function schemaAfter(done: readonly Migration[]): string {
  const fields = fieldsAfter(done)
  const lines = Object.entries(fields).filter(([path]) => !path.startsWith('o.'))
  const inner = Object.entries(fields).filter(([path]) => path.startsWith('o.'))
  const statements = done.flatMap(each => each.statements)
  return `collection Row {
  history_days 30
${lines.map(([path, type]) => `  ${path}: ${type}`).join('\n')}
  o: { ${inner.map(([path, type]) => `${path.slice(2)}: ${type}`).join(', ')} }
${Object.keys(fields)
  .map(path => `  index ${indexOf(path)} { terms [.${path}] }`)
  .join('\n')}
${statements.length === 0 ? '' : `  migrations {\n    ${statements.join('\n    ')}\n  }\n`}}
`
}

export function fieldsAfter(done: readonly Migration[]): Fields {
  return done.reduce((fields, each) => each.fields(fields), originalFields)
}

/** The name of the index with a field as its term. */
export const indexOf = (path: string): string => `by_${path.replace('.', '_')}`
