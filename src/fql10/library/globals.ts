// Global functions, which belong to no module, and the modules Query and FQL.

import { msg } from '../../base/message.ts'
import { debugText, displayText } from '../text-of-value.ts'
import { BoundFunction, Id, Module, type Value } from '../value.ts'
import {
  definitionOf,
  entriesFor,
  type FieldDefinition,
  type FunctionDefinition,
  type Members,
  members,
} from './entry.ts'
import { typeOfModule } from './natives.ts'
import { any, callback, string } from './parameters.ts'

const { method, variadic } = entriesFor<Value>()

export const globalFunctions: readonly FunctionDefinition[] = [
  method('abort', {
    parameters: { return: any },
    type: '(return: Any) => Never',
    summary:
      'Stops the query with an error that contains the value `return`. All writes of the query are discarded.',
    example: ['if (false) abort("no stock")', 'null'],
    run: (_, args, call) => {
      const abort = { value: args.return, text: displayText(args.return, call) }
      throw call.failure('abort', msg`Query aborted.`, [], { abort })
    },
  }),
  method('asc', {
    parameters: { accessor: callback(1) },
    type: '<A> (accessor: (A => Any)) => { asc: A => Any }',
    summary:
      'Returns an ordering for `order`: elements are sorted by the results of `accessor`, from the least to the greatest.',
    example: ['[2, 1].order(asc(n => n)).first()', '1'],
    run: (_, { accessor }) => new Map([['asc', accessor]]),
  }),
  method('dbg', {
    parameters: { value: any },
    type: '<A> (value: A) => A',
    summary:
      'Returns `value` unchanged, and adds its text and the position of the call to the summary of the response.',
    example: ['dbg(1 + 1)', '2'],
    run: (_, { value }, call) => {
      call.evaluation.addLogLine({ name: 'info', message: debugText(value, call), span: call.span })
      return value
    },
  }),
  method('desc', {
    parameters: { accessor: callback(1) },
    type: '<A> (accessor: (A => Any)) => { desc: A => Any }',
    summary:
      'Returns an ordering for `order`: elements are sorted by the results of `accessor`, from the greatest to the least.',
    example: ['[1, 2].order(desc(n => n)).first()', '2'],
    run: (_, { accessor }) => new Map([['desc', accessor]]),
  }),
  variadic('log', {
    rest: ['args', any],
    type: '(args: ...Any) => Null',
    summary: 'Adds a line with the text of all arguments to the summary of the response. The result is null.',
    example: ['log("seen", 1)', 'null'],
    run: (_, args, call) => {
      const message = args.map(arg => displayText(arg, call)).join(' ')
      call.evaluation.addLogLine({ name: 'log', message, span: call.span })
      return call.nullResult()
    },
  }),
  method('newId', {
    effect: 'observation',
    type: '() => ID',
    summary: 'Returns a new id, which is greater than all earlier ids.',
    example: ['newId()', '…'],
    run: (_, __, call) => new Id(call.evaluation.newId()),
  }),
]

const ofModule = entriesFor<Module>()

/** The members of the module Query, with information about the caller and the database. */
export const queryModule: Members = members('Query', [
  ofModule.method('identity', {
    effect: 'read',
    type: '() => { *: Any } | Null',
    summary: 'Returns the document that the caller is logged in as, or null if there is none.',
    example: ['Query.identity()', 'null'],
    run: (_, __, call) => call.evaluation.world.access.identity() ?? call.noElement(msg`missing identity`),
  }),
  ofModule.method('token', {
    effect: 'read',
    type: '() => { *: Any } | Null',
    summary:
      "Returns the caller's token, or the claims of the caller's JSON Web Token. For a key, the result is null.",
    example: ['Query.token()', 'null'],
    run: (_, __, call) => call.evaluation.world.access.token() ?? call.noElement(msg`no token`),
  }),
  ofModule.method('isEnvProtected', {
    effect: 'read',
    type: '() => Boolean',
    summary:
      'True if the database rejects schema changes that lose data. Only the role `admin` may call this function.',
    example: ['Query.isEnvProtected()', '…'],
    run: (_, __, call) => call.evaluation.world.access.isProtected(call),
  }),
  ofModule.method('isEnvTypechecked', {
    type: '() => Boolean',
    summary: 'True if the database checks the types of queries before they run.',
    example: ['Query.isEnvTypechecked()', '…'],
    run: (_, __, call) => call.evaluation.world.access.isTypechecked(),
  }),
])

export const schemaModule: Members = members('FQL.Schema', [
  ofModule.method('defForIdentifier', {
    effect: 'read',
    parameters: { ident: string },
    type: '(ident: String) => Any',
    summary:
      'Returns the document that defines the collection or function with the name or alias `ident`, or null if there is none.',
    example: ['FQL.Schema.defForIdentifier("shout")!.coll', 'Function'],
    run: (_, { ident }, call) =>
      call.evaluation.world.names.definitionOf(ident) ?? call.noElement(msg`no element found`),
  }),
])

/** `FQL.log` is the function, even if a variable is named `log`. */
export function fqlModule(globals: ReadonlyMap<string, Module | BoundFunction>): Module {
  const schema = new Module('Schema', schemaModule, 'FQL')
  const entries = [...globals, ['Schema', schema] as const].map(([name, value]) => entryOf(name, value))
  return new Module('FQL', members('FQL', entries))
}

function entryOf(name: string, value: Module | BoundFunction): FieldDefinition {
  return ofModule.field(name, {
    type: value instanceof BoundFunction ? definitionOf(value).type : typeOfModule(value),
    summary: `The ${value instanceof Module ? 'module' : 'function'} \`${name}\`, even if a variable has the same name.`,
    example: [`FQL.${name}`, shown(value)],
    read: () => value,
  })
}

function shown(value: Module | BoundFunction): string {
  return value instanceof Module ? value.path : `"[function ${value.name}]"`
}
