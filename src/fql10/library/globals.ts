// Global functions, which belong to no module.

import { msg } from '../../base/message.ts'
import { debugText, displayText } from '../text-of-value.ts'
import { Id, type Value } from '../value.ts'
import { entriesFor, type FunctionDefinition } from './entry.ts'
import { any, callback } from './parameters.ts'

const { method, variadic } = entriesFor<Value>()

/** All global functions. */
export const globalFunctions: readonly FunctionDefinition[] = [
  method('abort', {
    parameters: { return: any },
    result: 'Never',
    summary: 'Fails the query with an error that contains a value, and discards its writes.',
    example: ['if (false) abort("no stock")', 'null'],
    run: (_, args, call) => {
      const abort = { value: args.return, text: displayText(args.return, call) }
      throw call.failure('abort', msg`Query aborted.`, [], { abort })
    },
  }),
  method('asc', {
    parameters: { accessor: callback(1) },
    result: '{ asc: A => Any }',
    summary: 'An ordering from the least value of a function to the greatest.',
    example: ['[2, 1].order(asc(n => n)).first()', '1'],
    run: (_, { accessor }) => new Map([['asc', accessor]]),
  }),
  method('dbg', {
    parameters: { value: any },
    result: 'A',
    summary: 'The value itself; its text and the place of the call are added to the summary of the response.',
    example: ['dbg(1 + 1)', '2'],
    run: (_, { value }, call) => {
      call.evaluation.tell({ name: 'info', message: debugText(value, call), span: call.span })
      return value
    },
  }),
  method('desc', {
    parameters: { accessor: callback(1) },
    result: '{ desc: A => Any }',
    summary: 'An ordering from the greatest value of a function to the least.',
    example: ['[1, 2].order(desc(n => n)).first()', '2'],
    run: (_, { accessor }) => new Map([['desc', accessor]]),
  }),
  variadic('log', {
    rest: ['args', any],
    result: 'Null',
    summary: 'Adds a line with the texts of the values to the summary of the response.',
    example: ['log("seen", 1)', 'null'],
    run: (_, args, call) => {
      const message = args.map(arg => displayText(arg, call)).join(' ')
      call.evaluation.tell({ name: 'log', message, span: call.span })
      return call.done()
    },
  }),
  method('newId', {
    effect: 'observation',
    result: 'ID',
    summary: 'A new id, greater than those before.',
    example: ['newId()', '…'],
    run: (_, __, call) => new Id(call.evaluation.newId()),
  }),
]
