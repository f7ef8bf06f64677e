// The module Array.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Module } from '../value.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { int } from './parameters.ts'

const { method } = entriesFor<Module>()

export const arrayModule: Members = members('Array', [
  method('sequence', {
    parameters: { from: int, until: int },
    type: '(from: Number, until: Number) => Array<Number>',
    summary: 'Returns the integers from `from` up to, but not including, `until`.',
    example: ['Array.sequence(1, 3)', '[\n  1,\n  2\n]'],
    run: (_, { from, until }, call) => {
      const size = until - from
      if (size > limits.v10ElementsMax) {
        const message = msg`Value too large: range size ${size} exceeds limit ${limits.v10ElementsMax}.`
        throw call.failure('value_too_large', message)
      }
      return Array.from({ length: Math.max(0, size) }, (_, index) => BigInt(from + index))
    },
  }),
])
