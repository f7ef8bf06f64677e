// The oldest supported Node.js. An older version loads most of the package and then lacks an API, so that a service
// would never finish its start or its stop.

/** The same version as in `engines` of package.json and in `bin/terrarium.js`. */
const [majorMin, minorMin] = [22, 12]

/** A one-line error for a Node.js that is too old; undefined for a supported one. `version`: such as `22.12.0`. */
export function nodeVersionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `terrarium-db needs Node.js ${majorMin}.${minorMin} or later; this is ${version}`
}
