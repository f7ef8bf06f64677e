// Whose a record is. A record shows the names of its database as they were; databases are renamed, moved, deleted and made
// again under a name that another one had. So each line of a segment begins with what stays, its trail, which is no part of
// the record and of no export:
//
//     /17/23/{"API_VERSION":…}     of the database 23, which lay in 17; `/` alone: of the root
//     /17/23/[…]{"API_VERSION":…}  the same with what else is known of the request, see facts.ts
//     -{"API_VERSION":…}           of no caller: the credential was refused
//     {"API_VERSION":…}            written by a version that knew names only

/** A database as it is now. */
export interface LoggedDatabase {
  /** Names, outermost first. */
  readonly names: readonly string[]
  /** In decimal. */
  readonly id: string
  /** Milliseconds since the Unix epoch since which no other database can have had its names. */
  readonly since: number
}

/** What stands before the records of requests that came to no database. */
const nobodys = '-'

/** The numbers of a database and of those around it, outermost first, as text. */
export function trailOf(ids: readonly bigint[]): string {
  return ids.reduce((trail, id) => `${trail}${id}/`, '/')
}

/** What stands before a record: its trail, undefined without a caller, and what else is known of the request. */
export function beforeRecord(trail: string | undefined, facts: string): string {
  return (trail ?? nobodys) + facts
}

/** A line of a segment in its parts; those before the record are undefined where there are none. */
interface LineParts {
  readonly trail: string | undefined
  readonly facts: string | undefined
  readonly record: string
}

/** Takes a line apart. */
export function splitLine(line: string): LineParts {
  const at = line.indexOf('{')
  if (at <= 0) return { trail: undefined, facts: undefined, record: line }
  return { ...splitBefore(line.slice(0, at)), record: line.slice(at) }
}

/** Takes apart what stands before a record. */
export function splitBefore(text: string): Omit<LineParts, 'record'> & { readonly trail: string } {
  const at = text.indexOf('[')
  return at < 0 ? { trail: text, facts: undefined } : { trail: text.slice(0, at), facts: text.slice(at) }
}

/** Whether a text can stand before a record. */
export function isTrail(text: string): boolean {
  return text === nobodys || /^\/(?:[0-9]+\/)*$/.test(text)
}

/** Whether a record with that trail, if it has one, names and time (in milliseconds) is of a database or of one in it. */
export function isOf(
  database: LoggedDatabase,
  trail: string | undefined,
  names: () => readonly string[],
  time: number,
): boolean {
  if (trail !== undefined) return trail.includes(`/${database.id}/`)
  if (time < database.since) return false
  const found = names()
  return database.names.every((name, level) => name === found[level])
}
