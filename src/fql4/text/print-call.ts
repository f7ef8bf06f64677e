// Prints calls and special forms. The caller prints their operands.

import type { Json } from '../../values/value.ts'
import type { Piece } from './layout.ts'
import { array, call, type Fields, isArray, isFields, object } from './pieces.ts'
import { functionsByWire, type Parameter, type WireFunction } from './text-functions.ts'

export function rawPiece(fields: Fields, piece: (json: Json) => Piece): Piece {
  return call('Expr', object(fields, piece))
}

/** `piece` converts the members of the object. Returns undefined if the object has no text syntax. */
export function formPiece(form: Fields, piece: (json: Json) => Piece): Piece | undefined {
  return specialPiece(form, piece) ?? callPiece(form, piece)
}

function specialPiece(form: Fields, piece: (json: Json) => Piece): Piece | undefined {
  if (form.size === 1) {
    const fields = form.get('object')
    if (isFields(fields)) return objectPiece(fields, piece)
    const variable = form.get('var')
    return variable === undefined ? undefined : call('Var', piece(variable))
  }
  if (form.size !== 2) return undefined
  if (form.has('lambda') && form.has('expr')) {
    return call('Lambda', piece(form.get('lambda') as Json), piece(form.get('expr') as Json))
  }
  if (!form.has('let') || !form.has('in')) return undefined
  const bindings = bindingsPiece(form.get('let') as Json, piece)
  return bindings && call('Let', bindings, piece(form.get('in') as Json))
}

/** Returns undefined if the only key is a tag different from `@obj`. */
function objectPiece(fields: Fields, piece: (json: Json) => Piece): Piece | undefined {
  const [key] = fields.keys()
  if (fields.size !== 1 || !key?.startsWith('@')) return object(fields, piece)
  const escaped = fields.get('@obj')
  return isFields(escaped) ? object(escaped, piece) : undefined
}

/** Returns an object, or an array with an object for each binding if two bindings have the same name. */
function bindingsPiece(bindings: Json, piece: (json: Json) => Piece): Piece | undefined {
  if (isFields(bindings)) return objectPiece(bindings, piece)
  if (!isArray(bindings)) return undefined
  const pairs: [string, Json][] = []
  for (const binding of bindings) {
    const [pair] = isFields(binding) && binding.size === 1 ? binding : []
    if (!pair) return undefined
    pairs.push(pair)
  }
  if (new Set(pairs.map(([name]) => name)).size === pairs.length) return object(pairs, piece)
  return array(pairs, pair => object([pair], piece))
}

function callPiece(form: Fields, piece: (json: Json) => Piece): Piece | undefined {
  for (const wire of form.keys()) {
    const known = functionsByWire.get(wire)
    const args = known && argumentsOf(known, form, piece)
    if (args) return call(known.name, ...args)
  }
  return undefined
}

/** Returns undefined if no text represents exactly this call. */
function argumentsOf(
  { parameters }: WireFunction,
  form: Fields,
  piece: (json: Json) => Piece,
): readonly Piece[] | undefined {
  const left = new Map(form)
  const args: (Piece | undefined)[] = []
  for (const parameter of parameters) {
    const added =
      parameter.kind === 'rest' && parameters.length === 1
        ? onlyRest(parameter, left, piece)
        : argumentsFor(parameter, left, piece)
    if (!added) return undefined
    args.push(...added)
  }
  if (left.size > 0) return undefined
  while (args.length > 0 && args.at(-1) === undefined) args.pop()
  // An omitted optional argument before other arguments is printed as null. If null is also a valid value of the
  // argument, the call is printed as `Expr({…})`.
  const pieces = args.map(
    (arg, index) => arg ?? (parameters[index]?.kind === 'optional' ? 'null' : undefined),
  )
  return pieces.every(each => each !== undefined) ? pieces : undefined
}

/** The arguments of a function with only a rest parameter, whose calls have at least one argument. */
function onlyRest(
  { key }: Parameter,
  left: Map<string, Json>,
  piece: (json: Json) => Piece,
): readonly Piece[] {
  const json = left.get(key) as Json
  left.delete(key)
  return isArray(json) && json.length > 1 ? json.map(piece) : [piece(json)]
}

/**
 * Removes the keys of the parameter from `left`. An undefined element of the result is an omitted argument. Returns
 * undefined if no text represents the value of the parameter.
 */
function argumentsFor(
  { kind, key, options }: Parameter,
  left: Map<string, Json>,
  piece: (json: Json) => Piece,
): readonly (Piece | undefined)[] | undefined {
  const json = left.get(key)
  const isGiven = left.delete(key)
  switch (kind) {
    case 'always null':
      return json === null ? [] : undefined
    case 'null by default':
      if (!isGiven) return undefined
      return [json === null ? undefined : piece(json as Json)]
    case 'rest':
      // A missing key and an empty array both mean no arguments.
      if (!isGiven) return []
      if (isArray(json) && json.length === 0) return []
      // By convention, several terms are written as an array.
      return isArray(json) && json.length > 1 && key !== 'terms' ? json.map(piece) : [piece(json as Json)]
    case 'rest as array':
      return isArray(json) && json.length > 0 ? json.map(piece) : undefined
    case 'options': {
      const given = [...left].filter(([name]) => options.includes(name))
      for (const [name] of given) left.delete(name)
      return [given.length > 0 ? object(given, piece) : undefined]
    }
    case 'optional':
      if (isGiven && json === null) return undefined
      return [isGiven ? piece(json as Json) : undefined]
    case 'optional or null':
      return [isGiven ? piece(json as Json) : undefined]
    default:
      return isGiven ? [piece(json as Json)] : undefined
  }
}
