// The functions of version 4 in query texts: names, parameters, and wire keys. A wire key is a key in wire JSON (the
// JSON of requests and responses).

import { functionTable } from './function-table.ts'

/** How an argument is passed. The generated file function-table.ts explains each kind. */
type ParameterKind =
  | 'required'
  | 'optional'
  | 'optional or null'
  | 'null by default'
  | 'rest'
  | 'rest as array'
  | 'always null'
  | 'options'

export interface Parameter {
  /** The name for users. */
  readonly label: string
  /** The wire key. Empty for `options`. */
  readonly key: string
  readonly kind: ParameterKind
  /** The wire keys that an `options` object may contain. */
  readonly options: readonly string[]
}

interface FqlFunction {
  readonly name: string
  /** The name and the parameters, such as `Paginate(set, {ts, size, …})`. */
  readonly signature: string
  /** The type of the result, such as `Page`. */
  readonly result: string
  readonly effect: 'pure' | 'read' | 'write'
  /** The chapter of docs/reference/functions.md. */
  readonly family: string
  /** A sentence for users. */
  readonly summary: string
}

/** A function that is not a special form. Its parameters determine how calls are converted to wire JSON. */
export interface WireFunction extends FqlFunction {
  /** The first key of the call's object in wire JSON. */
  readonly wire: string
  readonly parameters: readonly Parameter[]
}

/** The suffixes with which the generated file function-table.ts marks the kind of a parameter. */
const suffixes: readonly (readonly [suffix: string, kind: ParameterKind])[] = [
  ['=null', 'always null'],
  ['?null', 'null by default'],
  ['**', 'rest as array'],
  ['*', 'rest'],
  ['?', 'optional'],
  ['~', 'optional or null'],
]

function readParameter(text: string): Parameter {
  const colon = text.indexOf(':')
  const written = text.slice(colon + 1)
  if (written.startsWith('{'))
    return { label: 'options', key: '', kind: 'options', options: written.slice(1, -1).split(',') }
  const found = suffixes.find(([suffix]) => written.endsWith(suffix))
  const key = found ? written.slice(0, -found[0].length) : written
  const label = colon < 0 ? key : text.slice(0, colon)
  return { label, key, kind: found?.[1] ?? 'required', options: [] }
}

function showParameter({ label, kind, options }: Parameter): string {
  switch (kind) {
    case 'required':
      return label
    case 'rest':
    case 'rest as array':
      return `…${label}`
    case 'options':
      return `{${options.join(', ')}}?`
    default:
      return `${label}?`
  }
}

function readFunction(line: string): WireFunction {
  const [name = '', wire = '', written = '', result = '', effect = '', family = '', summary = ''] =
    line.split('|')
  const parameters = written.split(' ').map(readParameter)
  const shown = parameters.filter(({ kind }) => kind !== 'always null').map(showParameter)
  const signature = `${name}(${shown.join(', ')})`
  // The table is generated from typed declarations, so the cast of the effect is valid.
  return {
    name,
    wire,
    parameters,
    signature,
    result,
    effect: effect as FqlFunction['effect'],
    family,
    summary,
  }
}

/** Forms that look like function calls. The parser contains separate code for each form. */
const specialForms: readonly FqlFunction[] = [
  [
    'Let',
    'Let({name: value, …}, expr)',
    'Any',
    'Binds variables, in order, for the expression that follows.',
  ],
  ['Var', 'Var(name)', 'Any', 'The value of a variable.'],
  [
    'Lambda',
    'Lambda(parameters, expr)',
    'Lambda',
    'A function: a name or an array of names, and its body. Also (a, b) => expr.',
  ],
  ['Object', 'Object({name: value, …})', 'Object', 'An object; the same as writing it without the name.'],
  ['Bytes', 'Bytes(base64)', 'Bytes', 'Bytes in base64.'],
  ['UUID', 'UUID(string)', 'UUID', 'A UUID.'],
  [
    'Expr',
    'Expr({key: value, …})',
    'Any',
    'An object of wire JSON that no function can express. Its keys are used unchanged.',
  ],
].map(([name = '', signature = '', result = '', summary = '']) => ({
  name,
  signature,
  result,
  effect: 'pure',
  family: 'Basic',
  summary,
}))

/** All functions except the special forms, by name. */
export const wireFunctions: ReadonlyMap<string, WireFunction> = new Map(
  functionTable
    .trim()
    .split('\n')
    .map(line => {
      const wireFunction = readFunction(line)
      return [wireFunction.name, wireFunction]
    }),
)

/** All functions except the special forms, by their first wire key. */
export const functionsByWire: ReadonlyMap<string, WireFunction> = new Map(
  [...wireFunctions.values()].map(each => [each.wire, each]),
)

/**
 * The first wire keys of the functions that create sets, including `filter`, which belongs to another family because it
 * also filters arrays. A set inside another set may have no tag `@set`. One of these keys then identifies the inner set.
 */
export const setKeys: ReadonlySet<string> = new Set([
  'filter',
  ...[...wireFunctions.values()].filter(({ family }) => family === 'Sets').map(({ wire }) => wire),
])

/** All functions and special forms, for completion and help, in alphabetical order. */
export const fqlFunctions: readonly FqlFunction[] = [...specialForms, ...wireFunctions.values()].sort(
  (a, b) => (a.name < b.name ? -1 : 1),
)

export const functionNames: ReadonlySet<string> = new Set(fqlFunctions.map(({ name }) => name))
