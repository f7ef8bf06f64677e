// The API versions that clients may request. The version of a request determines the available functions and the
// rendering of values.

/** All API versions, oldest first. `UNSTABLE` is newer than every numbered version. */
export const apiVersions = ['2.0', '2.1', '2.7', '2.12', '3', '4', '5', 'UNSTABLE'] as const

export type ApiVersion = (typeof apiVersions)[number]

/** The protocol defines this default for requests without an explicit version. */
export const defaultApiVersion: ApiVersion = '2.1'

const ranks = new Map<string, number>(apiVersions.map((version, rank) => [version, rank]))

/** The first API version in which lambdas have a version; also the version of lambdas without an explicit version. */
export const firstLambdaVersion = '2.12'

export function isApiVersion(text: string): text is ApiVersion {
  return ranks.has(text)
}

/** An unknown version is treated as older than every known version. */
export function isAtLeast(version: string, minimum: ApiVersion): boolean {
  return (ranks.get(version) ?? -1) >= (ranks.get(minimum) as number)
}
