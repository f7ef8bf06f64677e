// Requests that ask about the caller only.

import { RequestError } from '../base/errors.ts'
import { msg } from '../base/message.ts'
import type { Language } from '../model/language.ts'
import { viewDocument } from '../model/view-document.ts'
import { encodeGlobalId } from '../values/global-id.ts'
import { native, Ref } from '../values/value.ts'
import type { Task } from './request-kind.ts'

/** The document of the token that the caller presented. */
export const ownToken =
  (language: Language): Task =>
  session => {
    const { credential } = session.caller
    const isToken = credential instanceof Ref && credential.collection === native.tokens
    const version = isToken ? session.transaction.get(credential) : undefined
    if (!version) throw new RequestError('not found', msg`Not Found`)
    return language.render(viewDocument(version, session), session)
  }

/** What the hosted service's router asked for: which account and database a credential belongs to. */
export const authorized: Task = ({ database }) => ({
  status: 200,
  body: JSON.stringify({ account: '0', global_id: encodeGlobalId(database) }),
})
