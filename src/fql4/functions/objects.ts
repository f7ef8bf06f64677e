// Functions that select values by path, search values, and merge objects.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { equalValues } from '../../values/equality.ts'
import {
  collectionOf,
  DocumentValue,
  instant,
  isArray,
  isObject,
  Lambda,
  type ObjectValue,
  Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { anyValue, boolean, isScalar, lambda, lazy, type PathStep, path, string } from '../arguments.ts'
import {
  type Call,
  define,
  family,
  type Lazy,
  mismatch,
  optional,
  undefinedReference,
} from '../definition.ts'
import { applyLambda } from '../evaluate.ts'
import type { BoundLambda } from '../expression.ts'
import { valueAt, valuesAt } from '../path.ts'
import { ErrorList } from '../query-errors.ts'
import { containsInSet } from '../sets/read.ts'
import { requireExtent } from '../value-limits.ts'
import { cursorValue, ElementWithSources, EventValue, isSet, Page } from '../values/transient.ts'

interface Selection {
  readonly path: readonly PathStep[]
  readonly from: Value
  readonly fallback: Lazy | undefined
}

function selectOne({ fallback, from, path: steps }: Selection, call: Call): Value {
  if (from instanceof UnresolvedRef) throw undefinedReference(from, call, 'from')
  const found = valueAt(steps, from, call.session)
  if (found !== undefined) return found
  if (fallback) return fallback.evaluate()
  step(steps.length)
  throw call.error('value not found', msg`Value not found at path [${steps.join(',')}].`, 'from')
}

function selectAll({ from, path: steps }: Pick<Selection, 'from' | 'path'>, call: Call): Value {
  if (from instanceof UnresolvedRef) throw undefinedReference(from, call, 'from')
  return valuesAt(steps, from, call.session)
}

const flatSelection = (name: string) =>
  define({
    compute: 0,
    deprecatedFor: 'select',
    arguments: { [name]: path, from: anyValue, default: optional(lazy) },
    result: 'Array',
    summary: `Returns all values at the path \`${name}\` in \`from\`, or an empty array if there are none. The path continues in each element of an array; \`default\` is ignored.`,
    example: [
      `{"${name}": ["a", "b"], "from": {"object": {"a": [{"object": {"b": 1}}, {"object": {"b": 2}}]}}}`,
      '[1, 2]',
    ],
    evaluate: (args, call) =>
      selectAll({ path: args[name] as readonly PathStep[], from: args.from as Value }, call),
  })

const containsPath = (name: string, options: { since?: '3'; deprecatedFor?: string }) =>
  define({
    ...options,
    arguments: { [name]: path, in: anyValue },
    result: 'Boolean',
    summary: `True if the path \`${name}\` leads to a value in \`in\`. null counts as a value.`,
    example: [`{"${name}": ["a", 0], "in": {"object": {"a": ["x"]}}}`, 'true'],
    evaluate(args, call) {
      const steps = args[name] as readonly PathStep[]
      return valueAt(steps, args.in as Value, call.session) !== undefined
    },
  })

function fieldsOf(value: Value): ObjectValue | undefined {
  if (isObject(value)) return value
  if (!(value instanceof DocumentValue)) return undefined
  return new Map<string, Value>([['ref', value.ref], ['ts', instant(value.ts)], ...value.fields])
}

function containsField(name: string, value: Value, call: Call): boolean {
  if (isArray(value)) throw mismatch('Object', value, call, 'in')
  const hasFields = value instanceof Ref || !isScalar(value)
  return hasFields && valueAt([name], value, call.session) !== undefined
}

/** Returns undefined if `contains_value` cannot search the value. */
function contentsOf(value: Value, call: Call): readonly Value[] | undefined {
  if (isArray(value)) return value
  if (isObject(value)) {
    step(value.size)
    return [...value.values()]
  }
  if (value instanceof Page) {
    const cursors = [value.before, value.after].flatMap(cursor => (cursor ? [cursorValue(cursor)] : []))
    return [value.data, ...cursors]
  }
  if (value instanceof Ref) return refContents(value, call)
  if (value instanceof EventValue) {
    const fields = value.fields ? [...value.fields.values()] : (value.values ?? [])
    return [instant(value.ts), value.action, ...(value.document ? [value.document] : []), ...fields]
  }
  const fields = fieldsOf(value)
  if (fields) return [...fields.values(), collectionOf(fields.get('ref') as Ref)]
  return value instanceof ElementWithSources || value instanceof Lambda ? [] : undefined
}

function refContents(ref: Ref, call: Call): readonly Value[] {
  const parts = ['id', 'collection', 'database'].map(name => valueAt([name], ref, call.session))
  return parts.filter(part => part !== undefined)
}

function containsValue(wanted: Value, value: Value, call: Call): boolean {
  if (isSet(value)) return containsInSet(value, wanted, call)
  if (value instanceof UnresolvedRef) throw undefinedReference(value, call, 'in')
  const contents = contentsOf(value, call)
  if (contents) return call.session.metered(() => contents.some(each => equalValues(each, wanted)))
  throw call.invalid(msg`Object, Array, Page, Set, or Ref expected, Scalar provided.`, 'in')
}

function merged(left: Value, right: Value, combine: BoundLambda | undefined, call: Call): Value {
  const errors = new ErrorList()
  const objectAt = (value: Value, ...at: (string | number)[]): ObjectValue => {
    step()
    const fields = fieldsOf(value)
    if (!fields && !errors.isFull) errors.add(mismatch('Object', value, call, ...at).errors)
    return fields ?? new Map()
  }
  const base = objectAt(left, 'merge')
  const others = isArray(right)
    ? right.map((each, index) => objectAt(each, 'with', index))
    : [objectAt(right, 'with')]
  errors.throwIfAny()
  step(base.size)
  const fields = new Map(base)
  for (const other of others) {
    for (const [name, value] of other) {
      step()
      const kept = combine ? applyLambda(combine, [name, fields.get(name) ?? null, value], call) : value
      if (kept === null) fields.delete(name)
      else fields.set(name, kept)
    }
  }
  return fields
}

function merge(left: Value, right: Value, combine: BoundLambda | undefined, call: Call): Value {
  const work = () => merged(left, right, combine, call)
  return requireExtent(combine ? work() : call.session.metered(work))
}

export const objects = family('Objects', [
  define({
    until: '3',
    arguments: {
      select: path,
      from: anyValue,
      all: optional(boolean),
      default: optional(anyValue),
    },
    result: 'Any',
    summary:
      'Returns the value at the path `select` in `from`, or `default` if there is none; without `default`, a missing value is an error. `default` is always evaluated. If `all` is true, returns the same as `select_all`.',
    example: ['{"select": ["a"], "from": {"object": {}}, "default": 0}', '0'],
    evaluate(args, call) {
      const given = args.default
      const fallback = given === undefined ? undefined : { evaluate: () => given }
      const selection = { path: args.select, from: args.from, fallback }
      return args.all ? selectAll(selection, call) : selectOne(selection, call)
    },
  }),
  define({
    since: '3',
    compute: 0,
    arguments: {
      select: path,
      from: anyValue,
      all: optional(boolean),
      default: optional(lazy),
    },
    result: 'Any',
    summary:
      'Returns the value at the path `select` in `from`, or `default` if there is none; without `default`, a missing value is an error. If `all` is true, returns the same as `select_all`.',
    example: ['{"select": ["a", 1], "from": {"object": {"a": ["x", "y"]}}}', '"y"'],
    evaluate(args, call) {
      const selection = { path: args.select, from: args.from, fallback: args.default }
      return args.all ? selectAll(selection, call) : selectOne(selection, call)
    },
  }),
  flatSelection('select_all'),
  flatSelection('select_as_index'),
  containsPath('contains_path', { since: '3' }),
  containsPath('contains', { deprecatedFor: 'contains_path' }),
  define({
    since: '3',
    arguments: { contains_field: string, in: anyValue },
    result: 'Boolean',
    summary: 'True if `in` has a field with the name `contains_field`. An array is an error.',
    example: ['{"contains_field": "a", "in": {"object": {"a": 1}}}', 'true'],
    evaluate: (args, call) => containsField(args.contains_field, args.in, call),
  }),
  define({
    effect: 'read',
    since: '3',
    arguments: { contains_value: anyValue, in: anyValue },
    result: 'Boolean',
    summary:
      'True if the array, object, document, page, reference or set `in` contains the value `contains_value`.',
    example: ['{"contains_value": 2, "in": [1, 2]}', 'true'],
    evaluate: (args, call) => containsValue(args.contains_value, args.in, call),
  }),
  define({
    arguments: { merge: anyValue, with: anyValue, lambda: optional(lambda) },
    result: 'Object',
    summary:
      'Returns the fields of `merge`, overwritten by the fields of `with`; null removes a field, and nested objects are not merged. `lambda` may compute each value from the name, the old value and the new value.',
    example: ['{"merge": {"object": {"a": 1, "b": 2}}, "with": {"object": {"b": 3}}}', '{"a": 1, "b": 3}'],
    evaluate: (args, call) => merge(args.merge, args.with, args.lambda, call),
  }),
])
