// Checks the type names that a collection generates: a collection `Jar` also occupies `JarCollection` and `NullJar`.

import { textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { native, type Ref, sameRef } from '../../values/value.ts'

function typesOf(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [name, `${name}Collection`, `Null${name}`]
}

/** The error if the generated types of the collection `own` conflict with those of another collection. */
export function derivedNameFault(own: Ref, session: Session): string | undefined {
  const { transaction } = session
  const fields = transaction.get(own)?.fields
  const others = Array.from(transaction.documents(own.database, native.collections, {})).flatMap(
    ({ document }) => {
      if (sameRef(document, own)) return []
      const stored = transaction.get(document)?.fields
      return ['name', 'alias'].flatMap(kind => typesOf(textIn(stored, kind)))
    },
  )
  const taken = new Set(others)
  for (const kind of ['name', 'alias']) {
    const name = textIn(fields, kind)
    const same = typesOf(name).filter(type => taken.has(type))
    if (same.length === 0) continue
    const which = same.join(', ')
    return `The collection ${kind} \`${name}\` generates types that conflict with the following existing types: ${which}`
  }
  return undefined
}
