// Shows the permission checks of a query for another caller: a table of the decisions with the privileges that were
// checked, and a list of the memberships that decide which roles the caller has.

import { Table } from '../parts/table.tsx'
import { Cell, previewOf } from '../parts/values.tsx'
import { at, isMap, type Json, listAt, textAt } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'

const decisionTexts: Readonly<Record<string, string>> = {
  'built-in role': 'the built-in role',
  identity: "the caller's rights to its own document, tokens and credentials",
  privileges: 'a privilege',
  'other database': 'roles grant nothing in other databases',
  nothing: 'no privilege grants this',
}

/** Lists the decisions in the order in which they were made. */
export function DecisionTable({ decisions }: { decisions: readonly Json[] }) {
  if (decisions.length === 0) return <p class="empty">The query needed no permissions.</p>
  return (
    <Table label="Decisions" columns={['Decision', 'Action', 'Resource', 'Document', 'Decided by']}>
      {decisions.map((decision, number) => {
        const isAllowed = at(decision, 'allowed') === true
        return (
          <tr key={number}>
            <td class={isAllowed ? 'status-good' : 'status-bad'}>{isAllowed ? 'allowed' : 'denied'}</td>
            <td>{textAt(decision, 'action')}</td>
            <td>
              <ReferenceName value={at(decision, 'resource')} />
            </td>
            <td>
              <ReferenceName value={at(decision, 'document')} />
            </td>
            <td class="wrap">
              <Reason decision={decision} />
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

/** Accepts references of either version of the language. */
function ReferenceName({ value }: { value: Json | undefined }) {
  const coll = textAt(value, 'coll')
  if (coll === undefined) return <Cell value={value} />
  const id = textAt(value, 'id')
  return <bdi>{id === undefined ? textAt(value, 'name') : `${coll}/${id}`}</bdi>
}

function Reason({ decision }: { decision: Json }) {
  const by = textAt(decision, 'decided_by') ?? ''
  // `considered` also contains the privileges that the response lists as `granting`.
  const privileges = listAt(decision, 'considered')
  return (
    <>
      {decisionTexts[by] ?? by}
      {at(decision, 'role') !== undefined && ` ${previewOf(at(decision, 'role') ?? null)}`}
      {privileges.length > 0 && (
        <ul class="reasons">
          {privileges.map((privilege, number) => (
            <li key={number}>
              <Privilege privilege={privilege} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** A privilege or membership that was checked, with its outcome. */
function Privilege({ privilege }: { privilege: Json }) {
  const named = at(privilege, 'role')
  const role = refOf(named)?.id ?? textAt(named, 'name') ?? textAt(privilege, 'role') ?? ''
  const index = at(privilege, 'privilege') ?? at(privilege, 'membership')
  const hasPredicate = isMap(privilege) && (privilege.has('predicate') || privilege.has('failure'))
  const failure = listAt(privilege, 'failure')
  return (
    <>
      <bdi>{role}</bdi>
      {index !== undefined && ` no. ${Number(index) + 1}`}
      {': '}
      {hasPredicate
        ? failure.length > 0
          ? `its predicate fails (${failure.map(error => textAt(error, 'description')).join(' ')})`
          : `its predicate is ${previewOf(at(privilege, 'predicate') ?? null)}`
        : at(privilege, 'grant') === false
          ? 'does not allow the action'
          : 'without a condition'}
    </>
  )
}

/**
 * Lists the memberships for the collection of the caller's identity document, with the outcomes of their predicates.
 * The outcomes decide which roles the document gives to the caller.
 */
export function MembershipList({ memberships }: { memberships: readonly Json[] }) {
  return (
    <>
      <h3>Memberships</h3>
      <ul class="reasons">
        {memberships.map((membership, number) => (
          <li key={number}>
            <Privilege privilege={membership} />
          </li>
        ))}
      </ul>
    </>
  )
}
