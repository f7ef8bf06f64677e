// The Node.js that the package needs. An older one loads most of it and then lacks a part: a caller would wait for a service
// that never ends its start or its stop.

/** The oldest version, as `engines` of package.json and `bin/terrarium.js` name it. */
const [majorMin, minorMin] = [22, 12]

/** Why a Node.js is too old, in one line; undefined where it is not. `version`: such as `22.12.0`. */
export function nodeVersionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `terrarium-db needs Node.js ${majorMin}.${minorMin} or later; this is ${version}`
}
