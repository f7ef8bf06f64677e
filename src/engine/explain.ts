// Evaluates a query for an administrator and describes its reads. If the query runs as another caller, the response
// describes each access decision and the reasons for it. Writes of the query are never committed.

import { RequestError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import {
  type Admission,
  callerWith,
  identityCaller,
  keyCaller,
  type Refusal,
  tokenCaller,
} from '../model/auth/admission.ts'
import { isBuiltinRole } from '../model/auth/builtin-role.ts'
import type {
  AccessRequest,
  Authority,
  Caller,
  PredicateOutcome,
  TryPredicate,
} from '../model/auth/contract.ts'
import { explainDecision, explainMemberships, type PrivilegeOutcome } from '../model/auth/explain.ts'
import { LanguageError } from '../model/failure.ts'
import type { Explanation, ExplanationRenderer, Language, Languages, Query } from '../model/language.ts'
import { ReadRecorder } from '../model/read-recorder.ts'
import { Session } from '../model/session.ts'
import { WriteNeeded } from '../storage/store/contract.ts'
import { firstUserCollection, native, type ObjectValue, Ref, type Value } from '../values/value.ts'
import type { QueryRequest } from './contract.ts'
import { describeReads } from './explain-reads.ts'

/** The result of an explanation, thrown to end the transaction without a commit. */
export class ExplanationResult {
  /** The body of the response. */
  readonly body: string
  constructor(body: string) {
    this.body = body
  }
}

/**
 * Evaluates a query, as another caller if the request names one, and throws {@link ExplanationResult}. Only
 * administrators of the database may do this; other callers get `forbidden`.
 */
export function explain(request: QueryRequest, languages: Languages, session: Session): never {
  const { authority } = session.caller
  if (authority.kind !== 'builtin' || authority.role !== 'admin')
    throw new RequestError('forbidden', msg`Explaining queries needs a key with the role admin.`)
  const [language, asked] = explanationIn(request, languages)
  if (asked.query.effect === 'write' && !session.transaction.writable) throw new WriteNeeded()
  const { as } = asked
  const rendered =
    as === undefined ? readsOf(asked, language, session) : decisionsOf({ ...asked, as }, language, session)
  throw new ExplanationResult(language.renderExplanation(rendered, session).body)
}

/** Returns the result of a query and its reads. */
function readsOf(
  { dialect, query, setUses }: Explanation,
  language: Language,
  session: Session,
): ObjectValue {
  const reads = new ReadRecorder()
  const { accessOptions } = language
  const subject = sessionAs(session.caller, session, { accessOptions, dialect, reads })
  const outcome = outcomeOf(query, subject, language, session)
  const result = outcome.get('result')
  const uses = result === undefined ? [] : setUses()
  return new Map([...outcome, ...describeReads(reads, result, uses, subject)])
}

/** Returns the result of a query as another caller, with the access decisions. */
function decisionsOf(
  { as, dialect, query }: Explanation & { readonly as: Query },
  language: Language,
  session: Session,
): ObjectValue {
  const { accessOptions } = language
  const asking = sessionAs(session.caller, session, { accessOptions, dialect })
  const caller = callerAs(as.value(asking), asking)
  const decisions: ObjectValue[] = []
  const subject: Session = sessionAs(caller, session, {
    dialect,
    accessOptions,
    host: {
      ...session.host,
      createAccess: (authority, transaction, runPredicate, options) => {
        const access = session.host.createAccess(authority, transaction, runPredicate, options)
        if (authority.kind === 'predicate') return access
        const note = (request: AccessRequest, allowed: boolean) => {
          if (decisions.length >= limits.explainedDecisionsMax) return
          decisions.push(describeDecision(authority, request, allowed, { language, subject }))
        }
        return {
          mentions(action, resource) {
            const isMentioned = access.mentions(action, resource)
            // If this is the caller's only right on the collection, any privilege that mentions the collection allows
            // reading its definition.
            const { callSite } = subject
            if (!isMentioned && action === 'read')
              note({ action, resource, argument: () => null, callSite }, false)
            return isMentioned
          },
          allows(request) {
            const allowed = access.allows(request)
            note(request, allowed)
            return allowed
          },
        }
      },
    },
  })
  const outcome = outcomeOf(query, subject, language, session)
  return new Map<string, Value>([
    ...describeCaller(caller, asking, language),
    ...outcome,
    ['decisions', decisions],
  ])
}

/** Returns the result or the errors of a query, as members of the response. Its costs are added to `session`. */
function outcomeOf(
  query: Query,
  subject: Session,
  language: ExplanationRenderer,
  session: Session,
): Map<string, Value> {
  try {
    return new Map([['result', query.value(subject)]])
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error
    return new Map([['errors', language.describe(error)]])
  } finally {
    session.countCostsOf(subject)
  }
}

/** Parses the body in the language of the request or, if this fails, in another language. */
function explanationIn(request: QueryRequest, languages: Languages): readonly [Language, Explanation] {
  const own = languages[request.language]
  for (const language of [own, ...Object.values(languages).filter(each => each !== own)]) {
    const explanation = language?.parseExplanation(request)
    if (language !== undefined && explanation !== undefined) return [language, explanation]
  }
  throw new RequestError('bad request', msg`The body has to be {"query": …} or {"query": …, "as": …}.`)
}

/** Returns a session of another caller in the same transaction. */
function sessionAs(
  caller: Caller,
  session: Session,
  {
    accessOptions = session.accessOptions,
    dialect = session.dialect,
    host = session.host,
    reads,
  }: Partial<Pick<Session, 'accessOptions' | 'dialect' | 'host' | 'reads'>> = {},
): Session {
  const { transaction, memo, deadline } = session
  return new Session({ host, transaction, caller, dialect, accessOptions, memo, deadline, reads })
}

/** Returns the caller for a built-in role, role, key, token or document. */
function callerAs(as: Value, session: Session): Caller {
  const { database, transaction } = session
  const admission: Admission = {
    transaction,
    predicatesOf: caller => (predicate, argument, about) =>
      sessionAs(caller, session).decides(predicate, argument, about),
  }
  if (isBuiltinRole(as)) return callerWith({ kind: 'builtin', role: as, database })
  if (!(as instanceof Ref) || as.database !== database)
    throw new RequestError(
      'bad request',
      msg`"as" has to be a built-in role or a reference in this database.`,
    )
  const fields = transaction.get(as)?.fields
  if (!fields) throw new RequestError('bad request', msg`The document that "as" refers to does not exist.`)
  const caller = callerOf(as, fields, admission)
  if ('refused' in caller)
    throw new RequestError('bad request', msg`No caller can act as that document: ${caller.refused}.`)
  return caller
}

function callerOf(ref: Ref, fields: ObjectValue, admission: Admission): Caller | Refusal {
  const { collection, database } = ref
  if (collection === native.keys) return keyCaller(ref, fields, undefined, admission)
  if (collection === native.tokens) return tokenCaller(ref, fields, admission)
  if (collection === native.roles)
    return callerWith({ kind: 'roles', database, roles: [ref], identity: undefined })
  if (collection < firstUserCollection) return { refused: 'it is no role, key, token or document' }
  return identityCaller(ref, undefined, admission)
}

function describeCaller(
  { authority, identity }: Caller,
  session: Session,
  language: ExplanationRenderer,
): [string, Value][] {
  if (authority.kind !== 'roles') return []
  const roles: [string, Value] = ['roles', [...authority.roles]]
  if (!(identity instanceof Ref)) return [roles]
  const asMember = { authority, identity, database: identity.database, credential: undefined }
  const memberships = explainMemberships(identity, session.transaction, (predicate, argument) =>
    sessionAs(asMember, session).tryPredicate(predicate, argument),
  )
  const rendered = memberships.map(({ role, number, grant }) =>
    mapOf({
      role,
      membership: BigInt(number),
      ...(grant === true ? { grant } : describeOutcome(grant, language)),
    }),
  )
  return [roles, ['memberships', rendered]]
}

function describeDecision(
  authority: Authority,
  request: AccessRequest,
  allowed: boolean,
  { language, subject }: { readonly language: ExplanationRenderer; readonly subject: Session },
): ObjectValue {
  const run: TryPredicate = (predicate, argument, about) => subject.tryPredicate(predicate, argument, about)
  const { accessOptions, transaction } = subject
  const { decidedBy, considered } = explainDecision(authority, request, transaction, run, accessOptions ?? {})
  const { action, callSite, document, resource } = request
  const described = (privilege: PrivilegeOutcome) => describePrivilege(privilege, language)
  return mapOf({
    position: callSite?.position().map(step => (typeof step === 'number' ? BigInt(step) : step)) ?? [],
    action,
    resource,
    ...(document && { document }),
    allowed,
    decided_by: decidedBy.kind,
    ...(decidedBy.kind === 'built-in role' && { role: decidedBy.role }),
    ...(decidedBy.kind === 'privileges' && { granting: decidedBy.granting.map(described) }),
    considered: considered.map(described),
  })
}

function describePrivilege(
  { action, grant, number, role }: PrivilegeOutcome,
  language: ExplanationRenderer,
): ObjectValue {
  const said = typeof grant === 'boolean' ? { grant } : describeOutcome(grant, language)
  return mapOf({ role, privilege: BigInt(number), action, ...said })
}

function describeOutcome(outcome: PredicateOutcome, language: ExplanationRenderer): Record<string, Value> {
  if ('value' in outcome) return { grant: outcome.value === true, predicate: outcome.value }
  return { grant: false, failure: describeFailure(outcome.failure, language) }
}

function describeFailure(
  failure: { readonly message: string },
  language: ExplanationRenderer,
): readonly Value[] {
  return failure instanceof LanguageError ? language.describe(failure) : [failure.message]
}

function mapOf(fields: Readonly<Record<string, Value>>): ObjectValue {
  return new Map(Object.entries(fields))
}
