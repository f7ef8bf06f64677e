// Converts the members of roles and access providers.

import { msg } from '../../../base/message.ts'
import { resourceActions } from '../../../model/auth/contract.ts'
import { type Conversion, DuplicateCheck, errorPlace, nodeOf, wordOf } from './conversion.ts'
import type { OutlineBlock, OutlineMember } from './outline.ts'
import type {
  ActionMember,
  PredicatedMember,
  PrivilegesMember,
  ProviderMember,
  RoleMember,
  TextMember,
} from './schema-items.ts'

const actions: ReadonlySet<string> = new Set(resourceActions)

/** The members of a role. */
export function roleMembers({ members }: OutlineBlock, conversion: Conversion): readonly RoleMember[] {
  const duplicates = new DuplicateCheck(conversion)
  return members.flatMap((item): RoleMember | readonly RoleMember[] => {
    const word = wordOf(item)
    if (item.form === 'member' && word.text === 'privileges')
      return privilegesMember(item, duplicates, conversion) ?? []
    if (item.form === 'member' && word.text === 'membership')
      return predicatedMember('membership', item, duplicates, conversion) ?? []
    return conversion.fault(msg`Invalid member \`${word.text}\``, word) ?? []
  })
}

function privilegesMember(
  item: OutlineMember,
  known: DuplicateCheck,
  conversion: Conversion,
): PrivilegesMember | undefined {
  conversion.rejectAnnotations(item)
  const name = conversion.nameOf(item)
  if (name === undefined) return undefined
  known.addNamed('privileges', name)
  const block = conversion.blockOf(item)
  if (block === undefined) return undefined
  const duplicates = new DuplicateCheck(conversion)
  const found = block.members.flatMap((action): ActionMember | readonly ActionMember[] => {
    const word = wordOf(action)
    conversion.rejectAnnotations(action)
    if (action.form !== 'member' || !actions.has(word.text))
      return conversion.fault(msg`Invalid action \`${word.text}\``, word) ?? []
    if (!duplicates.addNamed('action', word)) return []
    const predicate = conversion.optionalPredicate(action)
    return { kind: 'action', name: word, predicate, start: action.start, end: action.end }
  })
  return { kind: 'privileges', name, block, actions: found, start: item.start, end: item.end }
}

function predicatedMember<K extends 'membership' | 'role'>(
  kind: K,
  item: OutlineMember,
  duplicates: DuplicateCheck,
  conversion: Conversion,
): PredicatedMember<K> | undefined {
  conversion.rejectAnnotations(item)
  const name = conversion.nameOf(item)
  if (name === undefined) return undefined
  duplicates.addNamed(kind, name)
  const predicate = conversion.optionalPredicate(item)
  return { kind, name, predicate, start: item.start, end: item.end }
}

/** The members of an access provider. */
export function providerMembers(block: OutlineBlock, conversion: Conversion): readonly ProviderMember[] {
  const duplicates = new DuplicateCheck(conversion)
  const given = new Set<string>()
  const members = block.members.flatMap((item): ProviderMember | readonly ProviderMember[] => {
    const word = wordOf(item)
    if (item.form === 'member') {
      if (word.text === 'issuer' || word.text === 'jwks_uri') {
        given.add(word.text)
        return textMember(item, word.text, duplicates, conversion) ?? []
      }
      if (word.text === 'role') return predicatedMember('role', item, duplicates, conversion) ?? []
    }
    return conversion.fault(msg`Invalid member \`${word.text}\``, word) ?? []
  })
  if (!given.has('issuer')) conversion.fault(msg`Missing issuer`, block)
  if (!given.has('jwks_uri')) conversion.fault(msg`Missing jwks uri`, block)
  return members
}

const titles = { issuer: 'issuer', jwks_uri: 'jwks uri' } as const

function textMember(
  item: OutlineMember,
  kind: keyof typeof titles,
  duplicates: DuplicateCheck,
  conversion: Conversion,
): TextMember | undefined {
  const { end, keyword, start } = item
  conversion.rejectAnnotations(item)
  if (!duplicates.add(titles[kind], keyword)) return undefined
  const given = conversion.valueOf(item)
  if (given === undefined) return undefined
  const node = nodeOf(given)
  if (node?.kind === 'template') {
    for (const part of node.parts) {
      if (typeof part !== 'string') {
        conversion.fault(msg`Cannot interpolate values in a string literal`, errorPlace(part))
      }
    }
    return undefined
  }
  if (node?.kind !== 'literal' || typeof node.value !== 'string') {
    return conversion.fault(msg`Expected string literal`, errorPlace(given))
  }
  return { kind, value: node.value, valuePlace: node, start, end }
}
