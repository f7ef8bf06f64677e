// Determines the database of a record. A record contains the names of its database and the database's ancestors at the
// time of the request. But databases can be renamed, moved, deleted and recreated under the same name. So each record has
// a trail: the permanent ids of the database and its ancestors, such as `/17/23/` for database 23 in database 17, or `/`
// for the root. The trail is not exported. It is stored with the names of the database, or, in segments of lines (of
// versions before 1.0), at the beginning of the line (log-lines.ts).

/** The trail of requests whose credential was rejected. */
export const noDatabase = '-'

/** Returns the trail of a database. `ids`: the ids of the database and its ancestors, outermost first. */
export function trailOf(ids: readonly bigint[]): string {
  return ids.reduce((trail, id) => `${trail}${id}/`, '/')
}

/** Returns whether a record with this trail is from the database `id` (in decimal) or a descendant. */
export function isWithin(id: string, trail: string): boolean {
  return trail.includes(`/${id}/`)
}
