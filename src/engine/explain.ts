// Evaluates a query as somebody else, for an administrator, and tells each decision about rights with what decided it.
// Nothing that the query writes is kept.

import { type Admission, identityCaller, keyCaller, type Refusal, tokenCaller } from '../auth/admission.ts'
import { isBuiltinRole } from '../auth/builtin-role.ts'
import type { AccessRequest, Authority, Caller, PredicateOutcome, TryPredicate } from '../auth/contract.ts'
import { type ConsideredPrivilege, explainDecision, explainMemberships } from '../auth/explain.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import { Session, type SessionHost } from '../model/session.ts'
import { WriteNeeded } from '../store/contract.ts'
import { type ErrorEntry, QueryError } from '../v4/errors.ts'
import { evaluate } from '../v4/evaluate.ts'
import { parse } from '../v4/language.ts'
import { fillTransactionTime } from '../v4/wire/render.ts'
import { firstUserCollection, type Json, native, type ObjectValue, Ref, type Value } from '../values/value.ts'
import { renderResource } from './render-resource.ts'

/** Thrown to end the transaction without a commit. */
export class Explained {
  /** The body of the response. */
  readonly body: string
  constructor(body: string) {
    this.body = body
  }
}

/** The members of the request. */
export interface ExplainRequest {
  readonly query: Json
  /** An expression whose value says as whom. */
  readonly as: Json
}

/**
 * Evaluates a query as somebody else and throws {@link Explained}. Only administrators of the database may ask; others
 * get `forbidden`.
 */
export function explain(request: ExplainRequest, session: Session): never {
  const { authority } = session.caller
  if (authority.kind !== 'builtin' || authority.role !== 'admin')
    throw new RequestError('forbidden', 'Explaining decisions needs a key with the role admin.')
  const { expression, effect } = parse(request.query, session.dialect)
  if (effect === 'write' && !session.transaction.writable) throw new WriteNeeded()
  const as = evaluate(parse(request.as, session.dialect).expression, undefined, session)
  const caller = callerAs(as, session)
  const decisions: ObjectValue[] = []
  const subject: Session = sessionAs(caller, session, {
    ...session.host,
    createAccess: (authority, transaction, runPredicate) => {
      const access = session.host.createAccess(authority, transaction, runPredicate)
      if (authority.kind === 'predicate') return access
      const note = (request: AccessRequest, allowed: boolean) => {
        if (decisions.length >= limits.explainedDecisionsMax) return
        decisions.push(describeDecision(authority, request, allowed, subject))
      }
      return {
        allows(request) {
          const allowed = access.allows(request)
          note(request, allowed)
          return allowed
        },
      }
    },
  })
  const outcome = new Map<string, Value>()
  try {
    outcome.set('result', evaluate(expression, undefined, subject))
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    outcome.set('errors', error.errors.map(describeError))
  }
  const told = [...describeCaller(caller, session), ...outcome, ['decisions', decisions] as const]
  const { snapshotTime } = session.transaction
  throw new Explained(fillTransactionTime(renderResource(new Map(told), session), snapshotTime))
}

function sessionAs(caller: Caller, { transaction, memo, deadline, dialect }: Session, host: SessionHost) {
  return new Session({ host, transaction, caller, dialect, memo, deadline })
}

/** The caller that a built-in role, role, key, token or document makes. */
function callerAs(as: Value, session: Session): Caller {
  const { database, transaction } = session
  const admission: Admission = {
    transaction,
    predicatesOf: caller => (predicate, argument) =>
      sessionAs(caller, session, session.host).decides(predicate, argument),
  }
  if (isBuiltinRole(as))
    return {
      database,
      authority: { kind: 'builtin', role: as, database },
      identity: undefined,
      credential: undefined,
    }
  if (!(as instanceof Ref) || as.database !== database)
    throw new RequestError('bad request', '"as" has to be a built-in role or a reference in this database.')
  const fields = transaction.get(as)?.fields
  if (!fields) throw new RequestError('bad request', 'What "as" refers to does not exist.')
  const caller = callerOf(as, fields, admission)
  if ('refused' in caller) throw new RequestError('bad request', `Nobody can act so: ${caller.refused}.`)
  return caller
}

function callerOf(ref: Ref, fields: ObjectValue, admission: Admission): Caller | Refusal {
  const { collection, database } = ref
  if (collection === native.keys) return keyCaller(ref, fields, undefined, admission)
  if (collection === native.tokens) return tokenCaller(ref, fields, admission)
  if (collection === native.roles)
    return {
      database,
      authority: { kind: 'roles', database, roles: [ref], identity: undefined },
      identity: undefined,
      credential: undefined,
    }
  if (collection < firstUserCollection) return { refused: 'it is no role, key, token or document' }
  return identityCaller(ref, undefined, admission)
}

function describeCaller({ authority, identity }: Caller, session: Session): [string, Value][] {
  if (authority.kind !== 'roles') return []
  const roles: [string, Value] = ['roles', [...authority.roles]]
  if (!(identity instanceof Ref)) return [roles]
  const asMember = { authority, identity, database: identity.database, credential: undefined }
  const memberships = explainMemberships(identity, session.transaction, (predicate, argument) =>
    sessionAs(asMember, session, session.host).tryPredicate(predicate, argument),
  )
  const told = memberships.map(({ role, number, grant }) =>
    mapOf({ role, membership: BigInt(number), ...(grant === true ? { grant } : describeOutcome(grant)) }),
  )
  return [roles, ['memberships', told]]
}

function describeDecision(
  authority: Authority,
  request: AccessRequest,
  allowed: boolean,
  subject: Session,
): ObjectValue {
  const run: TryPredicate = (predicate, argument) => subject.tryPredicate(predicate, argument)
  const { decidedBy, considered } = explainDecision(authority, request, subject.transaction, run)
  const { action, asker, document, resource } = request
  return mapOf({
    position: asker?.position().map(step => (typeof step === 'number' ? BigInt(step) : step)) ?? [],
    action,
    resource,
    ...(document && { document }),
    allowed,
    decided_by: decidedBy.kind,
    ...(decidedBy.kind === 'built-in role' && { role: decidedBy.role }),
    ...(decidedBy.kind === 'privileges' && { granting: decidedBy.granting.map(describePrivilege) }),
    considered: considered.map(describePrivilege),
  })
}

function describePrivilege({ action, grant, number, role }: ConsideredPrivilege): ObjectValue {
  const said = typeof grant === 'boolean' ? { grant } : describeOutcome(grant)
  return mapOf({ role, privilege: BigInt(number), action, ...said })
}

function describeOutcome(outcome: PredicateOutcome): Record<string, Value> {
  if ('value' in outcome) return { grant: outcome.value === true, predicate: outcome.value }
  return { grant: false, failure: describeFailure(outcome.failure) }
}

function describeFailure(failure: Error): readonly Value[] {
  return failure instanceof QueryError ? failure.errors.map(describeError) : [failure.message]
}

function describeError({ cause, code, description, position }: ErrorEntry): ObjectValue {
  return mapOf({
    position: position.map(step => (typeof step === 'number' ? BigInt(step) : step)),
    code,
    description,
    ...(cause && { cause: cause.map(describeError) }),
  })
}

function mapOf(fields: Readonly<Record<string, Value>>): ObjectValue {
  return new Map(Object.entries(fields))
}
