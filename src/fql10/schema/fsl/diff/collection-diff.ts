// Describes the differences between two versions of a collection.

import { type IndexPart, printPaths } from '../index-parts.ts'
import { hasNoEffect, memberKey } from '../print.ts'
import {
  type CollectionItem,
  type CollectionMember,
  type IndexMember,
  type MigrationStatement,
  type OfKind,
  ofKind,
  withoutParentheses,
} from '../schema-items.ts'
import { type DiffLine, markedLine } from './drawing.ts'
import type { Findings, ItemPair } from './item-comparison.ts'
import { matchByKey } from './matching.ts'
import { isSameTree } from './same-tree.ts'
import {
  annotationLines,
  changingWording,
  linesOf,
  namedWording,
  renameLines,
  valueLines,
  within,
} from './wording.ts'

export function compareCollections({ after, before }: ItemPair<CollectionItem>, found: Findings): void {
  const members = <K extends CollectionMember['kind']>(kind: K) =>
    [before, after].map(item => membersOf(item, kind)) as [Member<K>[], Member<K>[]]
  const [fieldsBefore, fieldsAfter] = members('field')
  const fields = matchByKey(fieldsBefore, fieldsAfter, memberKey)
  found.note(fields.added.length > 0 || fields.removed.length > 0)
  for (const pair of fields.kept) {
    found.note(!isSameTree(pair.before.type, pair.after.type))
    found.note(!isSameTree(pair.before.defaultValue, pair.after.defaultValue))
  }
  found.note(!isSameWildcard(before, after))
  found.note(!isSameTree(statementsOf(before), statementsOf(after)))

  const computed = matchByKey(...members('computed'), memberKey)
  for (const pair of computed.kept) {
    found.note(!isSameTree(pair.before.type, pair.after.type))
  }
  const computedWording = changingWording<Member<'computed'>>(
    ({ name }) => `computed field \`${name.text}\``,
    pair => !isSameTree(withoutParentheses(pair.before.body), withoutParentheses(pair.after.body)),
  )
  found.addUnlessEmpty('Computed fields', linesOf(computed, computedWording))
  found.addUnlessEmpty('Indexes', linesOf(matchByKey(...members('index'), memberKey), indexWording))

  const constraints = [before, after].map(item => [...membersOf(item, 'unique'), ...membersOf(item, 'check')])
  const [constraintsBefore = [], constraintsAfter = []] = constraints
  found.addUnlessEmpty(
    'Constraints',
    linesOf(matchByKey(constraintsBefore, constraintsAfter, memberKey), constraintWording),
  )
  found.addUnlessEmpty('Configuration', [
    ...renameLines({ before, after }),
    ...annotationLines({ before, after }),
    ...fields.kept
      .filter(pair => pair.before.defaultValue !== undefined && pair.after.defaultValue === undefined)
      .map(({ before: { name } }) =>
        markedLine('removed', `remove default value from field \`.${name.text}\``),
      ),
    ...settingLines(before, after),
  ])
}

type Member<K extends CollectionMember['kind']> = OfKind<CollectionMember, K>

function membersOf<K extends CollectionMember['kind']>(
  item: CollectionItem | undefined,
  kind: K,
): readonly Member<K>[] {
  return ofKind(item?.members ?? [], kind)
}

/** Compares the types of the wildcards (`*: Type`). A collection without fields has an implicit wildcard. */
function isSameWildcard(before: CollectionItem | undefined, after: CollectionItem | undefined): boolean {
  const [was, is] = [before, after].map(item => {
    const [wildcard] = membersOf(item, 'wildcard')
    const hasNone = wildcard === undefined && membersOf(item, 'field').length > 0
    return hasNone ? undefined : (wildcard?.type ?? anything)
  })
  return isSameTree(was, is)
}

/** The type of an implicit wildcard. */
const anything = { kind: 'name', name: 'Any', arguments: [] } as const

function statementsOf(item: CollectionItem | undefined): readonly MigrationStatement[] {
  const [block] = membersOf(item, 'migrations')
  return block?.statements ?? []
}

const indexWording = namedWording<IndexMember>(
  ({ name }) => `index \`${name.text}\``,
  ({ after, before }) => {
    const effective = ({ members }: IndexMember) => members.filter(each => !hasNoEffect(each))
    const parts = linesOf(matchByKey(effective(before), effective(after), memberKey), partWording)
    return within(`change index \`${before.name.text}\``, parts)
  },
)

const partWording = namedWording<IndexPart>(
  ({ kind, paths }) => `${kind} set to ${printPaths(paths)}`,
  ({ after, before }) => valueLines(before.kind, printPaths(before.paths), printPaths(after.paths)),
)

const constraintWording = changingWording<Member<'unique' | 'check'>>(
  constraint =>
    constraint.kind === 'check'
      ? `check constraint \`${constraint.name.text}\``
      : `unique constraint on ${printPaths(constraint.paths)}`,
  ({ after, before }) =>
    before.kind === 'check' && after.kind === 'check' && !isSameTree(before.body, after.body),
  ' body',
)

type Setting = Member<'history_days' | 'ttl_days' | 'document_ttls'>

const settingWording = namedWording<Setting>(
  ({ kind, value }) => `${kind} set to ${value}`,
  ({ after, before }) => valueLines(before.kind, `${before.value}`, `${after.value}`),
)

function settingLines(
  before: CollectionItem | undefined,
  after: CollectionItem | undefined,
): readonly DiffLine[] {
  const kinds = ['history_days', 'ttl_days', 'document_ttls'] as const
  const settings = (item: CollectionItem | undefined): readonly Setting[] =>
    kinds.flatMap(kind => membersOf<Setting['kind']>(item, kind))
  const { added, kept, removed } = matchByKey(settings(before), settings(after), memberKey)
  // Each definition has `history_days`, which is 0 if no schema file sets it. So `history_days 0` changes nothing.
  const hasEffect = (setting: Setting) => !hasNoEffect(setting)
  return linesOf({ added: added.filter(hasEffect), removed: removed.filter(hasEffect), kept }, settingWording)
}
