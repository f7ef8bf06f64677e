// Evaluates a query for an administrator and describes its reads: the sets, the numbers of entries and documents, and
// suggested indexes. If the query runs as another caller, describes each access decision and its reasons. Never commits
// the writes of the query.

import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import type {
  AccessRequest,
  Authority,
  Caller,
  PredicateOutcome,
  TryPredicate,
} from '../model/auth/access-contract.ts'
import {
  type Admission,
  callerWith,
  identityCaller,
  keyCaller,
  type Rejection,
  tokenCaller,
} from '../model/auth/admission.ts'
import { isBuiltinRole } from '../model/auth/builtin-role.ts'
import { explainDecision, explainMemberships, type PrivilegeOutcome } from '../model/auth/explain-decision.ts'
import { LanguageError } from '../model/failure.ts'
import type { Explanation, ExplanationRenderer, Language, Languages, Query } from '../model/language.ts'
import { ownIndexes } from '../model/schema/collection-indexes.ts'
import { objectOf } from '../model/schema/field-types.ts'
import { pathSpelling } from '../model/schema/paths.ts'
import { Session } from '../model/session.ts'
import { type IndexSuggestion, ReadRecorder } from '../model/use-recorders.ts'
import type { IndexDefinition } from '../storage/store/index-definition.ts'
import { WriteNeeded } from '../storage/store/store-contract.ts'
import {
  collectionOf,
  firstUserCollection,
  isArray,
  isObject,
  native,
  nativeName,
  type ObjectValue,
  Ref,
  Transient,
  type Value,
} from '../values/value.ts'
import type { QueryRequest } from './engine-contract.ts'

const explainLimits = {
  /** Maximum number of permission checks that one explanation describes; own limit. */
  explainedDecisionsMax: 1000,
} as const

/** Thrown to end the transaction without a commit. */
export class ExplanationResult {
  readonly body: string
  constructor(body: string) {
    this.body = body
  }
}

/**
 * Evaluates a query with the rights of the administrator, or of the caller that the request names, and throws {@link
 * ExplanationResult}. Callers that are no administrators of the database get `forbidden`.
 */
export function explain(request: QueryRequest, languages: Languages, session: Session): never {
  const { authority } = session.caller
  if (authority.kind !== 'builtin' || authority.role !== 'admin')
    throw new RequestError('forbidden', msg`Explaining queries needs a key with the role admin.`)
  const [language, explanation] = explanationIn(request, languages)
  if (explanation.query.effect === 'write' && !session.transaction.writable) throw new WriteNeeded()
  const { as } = explanation
  const rendered =
    as === undefined
      ? readsOf(explanation, language, session)
      : decisionsOf({ ...explanation, as }, language, session)
  throw new ExplanationResult(language.renderExplanation(rendered, session).body)
}

/** Evaluates the query with the rights of the administrator, and describes its reads. */
function readsOf(
  { dialect, query, indexSuggestions }: Explanation,
  language: Language,
  session: Session,
): ObjectValue {
  const reads = new ReadRecorder()
  const { accessOptions } = language
  const querySession = sessionAs(session.caller, session, { accessOptions, dialect, reads })
  const outcome = outcomeOf(query, querySession, language, session)
  const result = outcome.get('result')
  const candidates = result === undefined ? [] : indexSuggestions()
  return new Map([...outcome, ...describeReads(reads, result, candidates, querySession)])
}

/** Evaluates the query with the rights of another caller, and describes the permission checks. */
function decisionsOf(
  { as, dialect, query }: Explanation & { readonly as: Query },
  language: Language,
  session: Session,
): ObjectValue {
  const { accessOptions } = language
  const adminSession = sessionAs(session.caller, session, { accessOptions, dialect })
  const caller = callerAs(as.value(adminSession), adminSession)
  const decisions: ObjectValue[] = []
  const querySession: Session = sessionAs(caller, session, {
    dialect,
    accessOptions,
    host: {
      ...session.host,
      createAccess: (authority, transaction, runPredicate, options) => {
        const access = session.host.createAccess(authority, transaction, runPredicate, options)
        if (authority.kind === 'predicate') return access
        const record = (request: AccessRequest, allowed: boolean) => {
          if (decisions.length >= explainLimits.explainedDecisionsMax) return
          decisions.push(describeDecision(authority, request, allowed, { language, querySession }))
        }
        return {
          mentions(action, resource) {
            const isMentioned = access.mentions(action, resource)
            // Any privilege that mentions a collection also allows reading the collection's definition. If no privilege
            // mentions the collection, reading the definition is denied without a call of `allows`, so the denial is
            // recorded here.
            if (!isMentioned && action === 'read') record({ action, resource, argument: () => null }, false)
            return isMentioned
          },
          allows(request) {
            const allowed = access.allows(request)
            record(request, allowed)
            return allowed
          },
        }
      },
    },
  })
  const outcome = outcomeOf(query, querySession, language, session)
  return new Map<string, Value>([
    ...describeCaller(caller, adminSession, language),
    ...outcome,
    ['decisions', decisions],
  ])
}

/** Returns the result or the errors as members of the response. Adds the costs of the query to `session`. */
function outcomeOf(
  query: Query,
  querySession: Session,
  language: ExplanationRenderer,
  session: Session,
): Map<string, Value> {
  try {
    return new Map([['result', query.value(querySession)]])
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error
    return new Map([['errors', language.describe(error)]])
  } finally {
    session.countCostsOf(querySession)
  }
}

/** Tries the language of the request, then the other languages. */
function explanationIn(request: QueryRequest, languages: Languages): readonly [Language, Explanation] {
  const own = languages[request.language]
  for (const language of [own, ...Object.values(languages).filter(each => each !== own)]) {
    const explanation = language?.parseExplanation(request)
    if (language !== undefined && explanation !== undefined) return [language, explanation]
  }
  throw new RequestError('bad request', msg`The body has to be {"query": …} or {"query": …, "as": …}.`)
}

/** Shares the transaction of `session`. */
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

/** `as`: a built-in role, or a reference to a role, key, token or other document. */
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
  if ('rejected' in caller)
    throw new RequestError('bad request', msg`No caller can act as that document: ${caller.rejected}.`)
  return caller
}

function callerOf(ref: Ref, fields: ObjectValue, admission: Admission): Caller | Rejection {
  const { collection, database } = ref
  if (collection === native.keys) return keyCaller(ref, fields, undefined, admission)
  if (collection === native.tokens) return tokenCaller(ref, fields, admission)
  if (collection === native.roles)
    return callerWith({ kind: 'roles', database, roles: [ref], identity: undefined })
  if (collection < firstUserCollection) return { rejected: 'it is no role, key, token or document' }
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
    objectOf({
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
  { language, querySession }: { readonly language: ExplanationRenderer; readonly querySession: Session },
): ObjectValue {
  const run: TryPredicate = (predicate, argument, about) =>
    querySession.tryPredicate(predicate, argument, about)
  const { accessOptions, callSite, transaction } = querySession
  const { decidedBy, considered } = explainDecision(authority, request, transaction, run, accessOptions ?? {})
  const { action, document, resource } = request
  const described = (privilege: PrivilegeOutcome) => describePrivilege(privilege, language)
  return objectOf({
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
  const outcome = typeof grant === 'boolean' ? { grant } : describeOutcome(grant, language)
  return objectOf({ role, privilege: BigInt(number), action, ...outcome })
}

function describeOutcome(outcome: PredicateOutcome, language: ExplanationRenderer): Record<string, Value> {
  if ('value' in outcome) return { grant: outcome.value === true, predicate: outcome.value }
  const { failure } = outcome
  const described = failure instanceof LanguageError ? language.describe(failure) : [failure.message]
  return { grant: false, failure: described }
}

/** `result` is undefined if the query failed. */
function describeReads(
  reads: ReadRecorder,
  result: Value | undefined,
  candidates: readonly IndexSuggestion[],
  session: Session,
): ReadonlyMap<string, Value> {
  const documents = reads.documents.map(([collection, count]) =>
    objectOf({ collection: collectionName(collection, session), documents: BigInt(count) }),
  )
  const sets = reads.sets.map(({ entries, scans, set }) =>
    objectOf({ ...nameOfSet(set, session), scans: BigInt(scans), entries: BigInt(entries) }),
  )
  const sum = (numbers: readonly number[]) => BigInt(numbers.reduce((total, number) => total + number, 0))
  return new Map<string, Value>([
    ['sets', sets],
    ['documents', documents],
    ['entries_read', sum(reads.sets.map(({ entries }) => entries))],
    ['documents_read', sum(reads.documents.map(([, count]) => count))],
    ['returned', BigInt(countElements(result))],
    ['suggestions', suggestions(reads, candidates, session)],
  ])
}

/** Counts the elements of a page or an array; 0 for null and undefined, and 1 for any other value. */
function countElements(result: Value | undefined): number {
  if (result === undefined || result === null) return 0
  const value = result instanceof Transient ? result.storedForm() : result
  if (isArray(value)) return value.length
  const data = isObject(value) ? value.get('data') : undefined
  return isArray(data) ? data.length : 1
}

function nameOfSet(set: Ref, session: Session): Readonly<Record<string, Value>> {
  const { catalogue } = session.transaction
  if (set.collection === native.collections)
    return { kind: 'collection', collection: collectionName(Number(set.id), session) }
  const index = catalogue.index(set)
  if (index === undefined || !index.isOwn) return { kind: 'index', index: catalogue.nameOf(set) ?? null }
  const [source] = index.sources
  const number = typeof source?.collections === 'string' ? undefined : source?.collections[0]
  const collection = number === undefined ? null : collectionName(number, session)
  return { kind: 'index', collection, index: number === undefined ? null : ownName(index, number, session) }
}

/** Name of `index` in the definition of its collection. `number`: the number of the collection. */
function ownName(index: IndexDefinition, number: number, session: Session): string | null {
  const collection = new Ref(session.database, native.collections, BigInt(number))
  for (const [name, { stored }] of ownIndexes(collection, session)) {
    if (stored.ref.id === index.ref.id) return name
  }
  return null
}

function collectionName(number: number, session: Session): string {
  const { catalogue } = session.transaction
  const name = nativeName(number)
  if (name !== undefined) return name
  return catalogue.nameOf(collectionOf(new Ref(session.database, number, 0n))) ?? String(number)
}

/** Returns the suggestions for collections that the query has scanned. */
function suggestions(
  reads: ReadRecorder,
  candidates: readonly IndexSuggestion[],
  session: Session,
): readonly ObjectValue[] {
  const { catalogue } = session.transaction
  return candidates.flatMap(suggestion => {
    const collection = catalogue.resolve(session.database, native.collections, suggestion.collection)
    const isScanned = reads.sets.some(
      ({ entries, set }) => set.collection === native.collections && set.id === collection?.id && entries > 0,
    )
    if (collection === undefined || !isScanned) return []
    const existing = existingIndex(suggestion, Number(collection.id), session)
    return [
      objectOf({
        collection: suggestion.collection,
        terms: suggestion.terms.map(pathSpelling),
        values: suggestion.values.map(pathSpelling),
        existing: existing ?? null,
        definition: suggestion.definition,
      }),
    ]
  })
}

/**
 * Finds an index that makes the suggested index unnecessary: it has the same terms, and its first values are the values
 * of the suggestion. Only indexes that are defined in the language of the query are considered. `number`: the number of
 * the collection.
 */
function existingIndex(suggestion: IndexSuggestion, number: number, session: Session): string | undefined {
  const { isOwn } = suggestion
  const indexes = session.transaction.catalogue.indexesOf(session.database, number)
  const found = indexes.find(index => index.isOwn === isOwn && matchesSuggestion(index, suggestion))
  return found && (isOwn ? (ownName(found, number, session) ?? undefined) : found.name)
}

function matchesSuggestion(index: IndexDefinition, { terms, values }: IndexSuggestion): boolean {
  const spelled = (fields: IndexDefinition['terms']) => fields.map(({ path }) => path && pathSpelling(path))
  const indexTerms = new Set(spelled(index.terms))
  const indexValues = spelled(index.values)
  return (
    indexTerms.size === terms.length &&
    terms.every(path => indexTerms.has(pathSpelling(path))) &&
    values.every((path, at) => indexValues[at] === pathSpelling(path))
  )
}
