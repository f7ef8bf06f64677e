// Determines the database of a record. A record contains the names of its database and the database's ancestors at the
// time of the request. But databases can be renamed, moved, deleted and recreated under the same name. So each record has
// a trail: the permanent ids of the database and its ancestors. The trail is not exported. It is stored with the names
// of the database, or, in segments of lines (of versions before 1.0), at the beginning of the line:
//
//     /17/23/{"API_VERSION":…}     a request to database 23 in database 17; `/` alone: to the root
//     /17/23/[…]{"API_VERSION":…}  the same with additional facts, see facts.ts
//     -{"API_VERSION":…}           without a caller: the credential was rejected
//     {"API_VERSION":…}            written by a version that stored only names

/** The current identity of a database. */
export interface LogDatabase {
  /** Names, outermost first. */
  readonly names: readonly string[]
  /** Id in decimal. */
  readonly id: string
  /** The time since which no other database can have had these names. In milliseconds since the Unix epoch. */
  readonly since: number
}

/** The trail of requests whose credential was rejected. */
export const noDatabase = '-'

/** Returns the trail of a database. `ids`: the ids of the database and its ancestors, outermost first. */
export function trailOf(ids: readonly bigint[]): string {
  return ids.reduce((trail, id) => `${trail}${id}/`, '/')
}

/** The parts of a line; missing parts before the record are undefined. */
interface LineParts {
  readonly trail: string | undefined
  readonly facts: string | undefined
  readonly record: string
}

export function splitLine(line: string): LineParts {
  const at = line.indexOf('{')
  if (at <= 0) return { trail: undefined, facts: undefined, record: line }
  return { ...splitBefore(line.slice(0, at)), record: line.slice(at) }
}

export function splitBefore(text: string): Omit<LineParts, 'record'> & { readonly trail: string } {
  const at = text.indexOf('[')
  return at < 0 ? { trail: text, facts: undefined } : { trail: text.slice(0, at), facts: text.slice(at) }
}

export function isTrail(text: string): boolean {
  return text === noDatabase || /^\/(?:[0-9]+\/)*$/.test(text)
}

/**
 * Returns whether a record is from `database` or a descendant. `trail`: the trail of the record, if any. `names`:
 * returns the names in the record; called only without a trail. `time`: the time of the record in milliseconds.
 */
export function isWithin(
  database: LogDatabase,
  trail: string | undefined,
  names: () => readonly string[],
  time: number,
): boolean {
  if (trail !== undefined) return trail.includes(`/${database.id}/`)
  if (time < database.since) return false
  const found = names()
  return database.names.every((name, level) => name === found[level])
}
