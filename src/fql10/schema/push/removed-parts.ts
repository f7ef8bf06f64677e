// Lists the objects that a push removes together with definitions, although no schema file contains these objects:
// indexes of version 4, and parts of the GraphQL schema. A user sees the list before the push, as part of the diff.

import { objectIn, textIn } from '../../../model/schema/definition-parts.ts'
import type { Session } from '../../../model/session.ts'
import { native, type ObjectValue, type Ref } from '../../../values/value.ts'
import { nativeOfItem } from '../fsl/definition-of-item.ts'
import type { ItemChange } from '../fsl/diff/schema-diff.ts'

/** Returns a line for each part that the changes remove. The result is empty if the files show all removals. */
export function removedParts(changes: readonly ItemChange[], session: Session): readonly string[] {
  const { catalogue } = session.transaction
  return changes.flatMap(({ after, before }) => {
    if (before === undefined || after !== undefined) return []
    const { kind, name } = before
    const ref = catalogue.resolve(session.database, nativeOfItem[kind], name.text)
    if (ref === undefined) return []
    if (kind === 'function') return resolverLine(ref, session)
    return kind === 'collection' ? [...typeLine(ref, session), ...indexLines(ref, session)] : []
  })
}

/** Returns the GraphQL metadata of a schema object (src/graphql/schema/metadata.ts). */
function metaOf(ref: Ref, { transaction }: Session): ObjectValue {
  return objectIn(objectIn(objectIn(transaction.get(ref)?.fields, 'data'), 'gql'), 'meta')
}

function typeLine(collection: Ref, session: Session): readonly string[] {
  const name = textIn(metaOf(collection, session), 'name')
  return name === undefined ? [] : [`the GraphQL type ${name}`]
}

function resolverLine(ref: Ref, session: Session): readonly string[] {
  const meta = metaOf(ref, session)
  const name = textIn(objectIn(meta, 'field'), 'name')
  return name === undefined ? [] : [`the GraphQL field ${textIn(meta, 'location')}.${name}`]
}

/** Indexes of version 4 that cover only this collection are deleted with the collection. */
function indexLines(collection: Ref, session: Session): readonly string[] {
  const { catalogue } = session.transaction
  const number = Number(collection.id)
  const indexes = catalogue.indexesOf(collection.database, number).filter(({ isOwn, sources }) => {
    const isOnlySource = sources.every(
      ({ collections }) => collections !== '_' && collections.every(each => each === number),
    )
    return !isOwn && isOnlySource
  })
  return indexes.map(({ name, ref }) => {
    const field = ref.collection === native.indexes ? textIn(metaOf(ref, session), 'name') : undefined
    return field === undefined
      ? `the index ${name}`
      : `the index ${name} with the GraphQL field Query.${field}`
  })
}
