// The module Query, with information about the caller and the database.

import { msg } from '../../base/message.ts'
import type { Module } from '../value.ts'
import { entriesFor, type Members, members } from './entry.ts'

const { method } = entriesFor<Module>()

/** The table of the module Query. */
export const queryModule: Members = members('Query', [
  method('identity', {
    effect: 'read',
    result: 'Doc | Null',
    summary: 'The document that the caller has logged in as.',
    example: ['Query.identity()', 'null'],
    run: (_, __, call) => call.evaluation.world.access.identity(call) ?? call.nothing(msg`missing identity`),
  }),
  method('token', {
    effect: 'read',
    result: 'Doc | { *: Any } | Null',
    summary: "The caller's token, or what is in it that another service has signed.",
    example: ['Query.token()', 'null'],
    run: (_, __, call) => call.evaluation.world.access.token(call) ?? call.nothing(msg`no token`),
  }),
  method('isEnvProtected', {
    effect: 'read',
    result: 'Boolean',
    summary: 'True if the database rejects schema changes that lose data.',
    example: ['Query.isEnvProtected()', '…'],
    run: (_, __, call) => call.evaluation.world.access.isProtected(call),
  }),
  method('isEnvTypechecked', {
    result: 'Boolean',
    summary: 'Stored and returned, without effect: types are never checked before a query runs.',
    example: ['Query.isEnvTypechecked()', 'false'],
    run: () => false,
  }),
])
