// Explains a permission decision: the relevant privileges, the outcomes of their predicates, and the roles of an
// identity. Only administrators may see explanations.

import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import { codeOf } from '../../values/code.ts'
import { type Ref, sameRef } from '../../values/value.ts'
import { identityAllows, piecesOf, type RolesAuthority } from './access.ts'
import type {
  AccessOptions,
  AccessRequest,
  Authority,
  PredicateOutcome,
  ResourceAction,
  TryPredicate,
} from './access-contract.ts'
import { membershipsFor, privilegesIn } from './role.ts'

/** A privilege for the requested resource and action, with the outcome of its predicate. */
export interface PrivilegeOutcome {
  readonly role: Ref
  /** The index in its role. */
  readonly number: number
  readonly action: ResourceAction
  readonly grant: boolean | PredicateOutcome
}

/** The rule that made the decision, and all privileges for the requested resource and action. */
interface Explanation {
  readonly decidedBy:
    | { readonly kind: 'built-in role'; readonly role: string }
    /** Every identity has some rights to itself, and to its own tokens and credentials. */
    | { readonly kind: 'identity' }
    | { readonly kind: 'privileges'; readonly granting: readonly PrivilegeOutcome[] }
    /** The resource and the roles are in different databases. */
    | { readonly kind: 'other database' }
    | { readonly kind: 'nothing' }
  readonly considered: readonly PrivilegeOutcome[]
}

/** Runs the predicates of all relevant privileges, even after a predicate has granted the request. */
export function explainDecision(
  authority: Authority,
  request: AccessRequest,
  transaction: ReadTransaction,
  tryPredicate: TryPredicate,
  options: AccessOptions,
): Explanation {
  if (authority.kind === 'predicate') return { decidedBy: { kind: 'nothing' }, considered: [] }
  if (authority.kind === 'builtin')
    return { decidedBy: { kind: 'built-in role', role: authority.role }, considered: [] }
  if (request.resource.database !== authority.database)
    return { decidedBy: { kind: 'other database' }, considered: [] }
  if (identityAllows(authority, request, transaction, options))
    return { decidedBy: { kind: 'identity' }, considered: [] }
  const pieces = request.action === 'create_with_id' ? piecesOf(request, transaction) : []
  const decide = (part: AccessRequest) => privilegeOutcomes(authority, part, transaction, tryPredicate)
  const direct = decide(request)
  const ofPieces = pieces.map(decide)
  const all = [...direct, ...ofPieces.flat()]
  const granting = direct.filter(grants)
  if (granting.length > 0) return { decidedBy: { kind: 'privileges', granting }, considered: all }
  if (pieces.length > 0 && ofPieces.every(list => list.some(grants)))
    return { decidedBy: { kind: 'privileges', granting: ofPieces.flat().filter(grants) }, considered: all }
  return { decidedBy: { kind: 'nothing' }, considered: all }
}

function grants({ grant }: PrivilegeOutcome): boolean {
  return typeof grant === 'boolean' ? grant : 'value' in grant && grant.value === true
}

function privilegeOutcomes(
  { roles }: RolesAuthority,
  request: AccessRequest,
  transaction: ReadTransaction,
  tryPredicate: TryPredicate,
): PrivilegeOutcome[] {
  const { action, argument } = request
  const outcomes: PrivilegeOutcome[] = []
  for (const role of roles) {
    const fields = transaction.get(role)?.fields ?? new Map()
    for (const { number, resource, actions } of privilegesIn(fields, role.database, transaction)) {
      const stored = sameRef(resource, request.resource) ? actions.get(action) : undefined
      const predicate = codeOf(stored)
      if (typeof stored === 'boolean') outcomes.push({ role, number, action, grant: stored })
      else if (predicate)
        outcomes.push({ role, number, action, grant: tryPredicate(predicate, argument, request) })
    }
  }
  return outcomes
}

/** A membership for the collection of an identity. */
interface MembershipOutcome {
  readonly role: Ref
  /** The index in its role. */
  readonly number: number
  readonly grant: true | PredicateOutcome
}

/** The memberships for the identity's collection, with the outcomes of their predicates. */
export function explainMemberships(
  identity: Ref,
  transaction: ReadTransaction,
  tryPredicate: TryPredicate,
): readonly MembershipOutcome[] {
  return membershipsFor(transaction, identity).map(({ role, number, predicate }) => ({
    role,
    number,
    grant: predicate === undefined || tryPredicate(predicate, () => identity),
  }))
}
