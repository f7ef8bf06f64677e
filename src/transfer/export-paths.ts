// Paths of the files of an export. Names of databases, collections and schema files are arbitrary. Every path is within
// the folder of the export, and differs from all others even on case-insensitive file systems. The original name can be
// decoded from its path.

/**
 * A folder with a longer name is split into pieces. Common file systems allow 255 bytes, which suffice for this length
 * and the suffix of a data file.
 */
const segmentCharsMax = 200

/** The pieces of a segment: at most 66 characters or encoded characters (`%XX`), which are not split. */
const pieces = /(?:%[0-9A-F]{2}|[^%]){1,66}/g

/** Ends each piece except the last one. No encoded name ends with this character. */
const pieceEnd = '%'

function plainSegment(name: string): string {
  return encodeURIComponent(name).replace(/^\./, '%2E')
}

/** Also encodes uppercase letters, so that names which differ only by case get different segments in lower case. */
function caselessSegment(name: string): string {
  return plainSegment(name).replace(/%[0-9A-F]{2}|[A-Z]/g, found =>
    found.length > 1 ? found : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** A path with one folder for each piece of a segment. */
function inPieces(segment: string): string {
  return (segment.match(pieces) ?? []).join(`${pieceEnd}/`)
}

/**
 * Returns the path of the folder for each name. Usually the path is the name itself. If names differ only by case, their
 * capital letters are encoded. A name that is too long for one folder becomes several nested folders.
 */
export function folderPaths(names: Iterable<string>): ReadonlyMap<string, string> {
  const distinct = [...new Set(names)]
  const counts = new Map<string, number>()
  for (const name of distinct) {
    const key = plainSegment(name).toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return new Map(
    distinct.map(name => {
      const plain = plainSegment(name)
      if (plain.length <= segmentCharsMax && counts.get(plain.toLowerCase()) === 1) return [name, plain]
      const segment = caselessSegment(name)
      return [name, segment.length > segmentCharsMax ? inPieces(segment) : segment]
    }),
  )
}

/**
 * Path of each schema file below the folder `schema`, by the name of the file. Usually a name is a relative path
 * ({@link isRelative}), and the exported file has the same path. Any other name is encoded as one segment, which is
 * split if it has more than one piece ({@link inPieces}). Names that conflict on a case-insensitive file system, because
 * they or two of their folders differ only by case, are encoded in the same way.
 */
export function schemaPaths(names: Iterable<string>): ReadonlyMap<string, string> {
  const distinct = [...new Set(names)]
  const spellings = new Map<string, Set<string>>()
  for (const name of distinct) {
    for (const prefix of prefixesOf(name)) {
      const key = prefix.toLowerCase()
      spellings.set(key, (spellings.get(key) ?? new Set()).add(prefix))
    }
  }
  const isNested = (name: string) =>
    isRelative(name) && prefixesOf(name).every(prefix => spellings.get(prefix.toLowerCase())?.size === 1)
  return new Map(
    distinct.map(name => [
      name,
      isNested(name) ? name.split('/').map(plainSegment).join('/') : inPieces(caselessSegment(name)),
    ]),
  )
}

/** All prefixes, encoded: `a`, `a/b` and `a/b/c` for the name `a/b/c`. */
function prefixesOf(name: string): readonly string[] {
  const segments = name.split('/')
  return segments.map((_, at) =>
    segments
      .slice(0, at + 1)
      .map(plainSegment)
      .join('/'),
  )
}

/**
 * True for a path with short segments, without empty folders and without dots in the folders. A folder with a dot could
 * be mistaken for a file of an export.
 */
function isRelative(name: string): boolean {
  const segments = name.split('/')
  const folders = segments.slice(0, -1)
  return (
    folders.every(segment => segment !== '' && !segment.includes('.')) &&
    segments.every(segment => plainSegment(segment).length <= segmentCharsMax)
  )
}

/** The inverse of {@link folderPaths} and {@link schemaPaths}. */
export function nameOfPath(path: string): string {
  return path.replaceAll(`${pieceEnd}/`, '').split('/').map(decoded).join('/')
}

/** True if a folder is one piece of a longer name. A subfolder has the next piece. */
export function isPiece(segment: string): boolean {
  return segment.endsWith(pieceEnd)
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
