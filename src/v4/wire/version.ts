// The versions of the language that clients may ask for. They decide which functions exist and how values print.

/** All versions, oldest first. `UNSTABLE` is newer than every number. */
export const apiVersions = ['2.0', '2.1', '2.7', '2.12', '3', '4', '5', 'UNSTABLE'] as const

/** A version of the language. */
export type ApiVersion = (typeof apiVersions)[number]

/** The version of requests that do not say, with the original rendering of references: a fact of the protocol. */
export const defaultApiVersion: ApiVersion = '2.1'

const ranks = new Map<string, number>(apiVersions.map((version, rank) => [version, rank]))

/** Whether a text names a version of the language. */
export function isApiVersion(text: string): text is ApiVersion {
  return ranks.has(text)
}

/** Whether a version is `minimum` or newer. A text that is no version is older than all. */
export function isAtLeast(version: string, minimum: ApiVersion): boolean {
  return (ranks.get(version) ?? -1) >= (ranks.get(minimum) as number)
}
