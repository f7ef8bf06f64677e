// The API versions that clients may request. The version of a request determines the available functions and the
// rendering of values.

/** All versions, oldest first. `UNSTABLE` is newer than every numbered version. */
export const apiVersions = ['2.0', '2.1', '2.7', '2.12', '3', '4', '5', 'UNSTABLE'] as const

/** An API version. */
export type ApiVersion = (typeof apiVersions)[number]

/**
 * The version of requests that name no version, as the protocol defines. In this version, rendered references contain
 * `class` instead of `collection`.
 */
export const defaultApiVersion: ApiVersion = '2.1'

const ranks = new Map<string, number>(apiVersions.map((version, rank) => [version, rank]))

/** Returns whether a text is an API version. */
export function isApiVersion(text: string): text is ApiVersion {
  return ranks.has(text)
}

/** Returns whether a version is `minimum` or newer. An unknown version counts as older than every known version. */
export function isAtLeast(version: string, minimum: ApiVersion): boolean {
  return (ranks.get(version) ?? -1) >= (ranks.get(minimum) as number)
}
