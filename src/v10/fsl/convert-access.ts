// The members of roles and access providers.

import { type Conversion, Definitions, errorPlace, Onces } from './conversion.ts'
import type {
  ActionMember,
  PrivilegesMember,
  ProviderMember,
  ProviderRoleMember,
  RoleMember,
  TextMember,
} from './nodes.ts'
import type { OutlineBlock, OutlineItem, OutlineMember } from './outline.ts'

const actions: ReadonlySet<string> = new Set(
  ('create create_with_id delete read write history_read history_write ' + 'unrestricted_read call').split(
    ' ',
  ),
)

/** The word by which a member is called in messages. */
function wordOf(item: OutlineItem) {
  return item.form === 'member' || item.form === 'migration' ? item.keyword : item.name
}

/** The members of a role's block. */
export function roleMembers({ members }: OutlineBlock, conversion: Conversion): readonly RoleMember[] {
  const privileges = new Definitions(conversion, 'privileges')
  const memberships = new Definitions(conversion, 'membership')
  return members.flatMap((item): readonly RoleMember[] => {
    const word = wordOf(item)
    if (item.form === 'member' && word.text === 'privileges') {
      const member = privilegesMember(item, privileges, conversion)
      return member === undefined ? [] : [member]
    }
    if (item.form === 'member' && word.text === 'membership') {
      conversion.refuseAnnotations(item)
      const name = conversion.nameOf(item)
      if (name !== undefined) memberships.add(name)
      const predicate = conversion.optionalPredicate(item)
      return name === undefined
        ? []
        : [{ kind: 'membership', name, predicate, start: item.start, end: item.end }]
    }
    conversion.fault(`Invalid member \`${word.text}\``, word)
    return []
  })
}

function privilegesMember(
  item: OutlineMember,
  known: Definitions,
  conversion: Conversion,
): PrivilegesMember | undefined {
  conversion.refuseAnnotations(item)
  const name = conversion.nameOf(item)
  const block = conversion.blockOf(item)
  if (name !== undefined) known.add(name)
  if (block === undefined) return undefined
  const seen = new Definitions(conversion, 'action')
  const found = block.members.flatMap((action): readonly ActionMember[] => {
    const word = wordOf(action)
    if (action.form !== 'member' || !actions.has(word.text)) {
      conversion.fault(`Invalid action \`${word.text}\``, word)
      return []
    }
    conversion.refuseAnnotations(action)
    if (!seen.add(word)) return []
    const predicate = conversion.optionalPredicate(action)
    return [{ kind: 'action', name: word, predicate, start: action.start, end: action.end }]
  })
  return name && { kind: 'privileges', name, block, actions: found, start: item.start, end: item.end }
}

/** The members of an access provider's block. */
export function providerMembers(block: OutlineBlock, conversion: Conversion): readonly ProviderMember[] {
  const roles = new Definitions(conversion, 'role')
  const onces = new Onces(conversion)
  const given = new Set<string>()
  const members = block.members.flatMap((item): readonly ProviderMember[] => {
    const word = wordOf(item)
    if (item.form === 'member') {
      if (word.text === 'issuer' || word.text === 'jwks_uri') {
        given.add(word.text)
        const member = textMember(item, word.text, onces, conversion)
        return member === undefined ? [] : [member]
      }
      if (word.text === 'role') {
        const member = providerRole(item, roles, conversion)
        return member === undefined ? [] : [member]
      }
    }
    conversion.fault(`Invalid member \`${word.text}\``, word)
    return []
  })
  if (!given.has('issuer')) conversion.fault('Missing issuer', block)
  if (!given.has('jwks_uri')) conversion.fault('Missing jwks uri', block)
  return members
}

const titles = { issuer: 'issuer', jwks_uri: 'jwks uri' } as const

function textMember(
  item: OutlineMember,
  kind: keyof typeof titles,
  onces: Onces,
  conversion: Conversion,
): TextMember | undefined {
  const { end, keyword, start } = item
  conversion.refuseAnnotations(item)
  if (!onces.add(titles[kind], keyword)) return undefined
  const given = conversion.expressionOf(item)
  if (given === undefined) return undefined
  const { node } = given
  if (node.kind === 'template') {
    for (const part of node.parts) {
      if (typeof part !== 'string') {
        conversion.fault('Cannot interpolate values in a string literal', errorPlace(part))
      }
    }
    return undefined
  }
  if (node.kind !== 'literal' || typeof node.value !== 'string') {
    return conversion.fault('Expected string literal', errorPlace(node))
  }
  return { kind, keyword, value: node.value, valuePlace: node, start, end }
}

function providerRole(
  item: OutlineMember,
  known: Definitions,
  conversion: Conversion,
): ProviderRoleMember | undefined {
  conversion.refuseAnnotations(item)
  const name = conversion.nameOf(item)
  if (name !== undefined) known.add(name)
  const predicate = conversion.optionalPredicate(item)
  return name && { kind: 'role', name, predicate, start: item.start, end: item.end }
}
