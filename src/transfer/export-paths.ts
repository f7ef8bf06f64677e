// Paths of the files of an export. Names of databases, collections and schema files are data: whatever they are made of, a
// path stays in the folder of the export, differs from all others on file systems that ignore case, and gives the name back.

/** Characters of a step that every file system takes, with the part and number of a data file after them. */
const stepCharsMax = 200

/** A longer step is cut into pieces between its characters, which take three each where they are encoded. */
const pieces = /(?:%[0-9A-F]{2}|[^%]){1,66}/g

/** The end of a piece, which no encoded name has. */
const pieceEnd = '%'

/** A name as one step of a path. */
function plainStep(name: string): string {
  return encodeURIComponent(name).replace(/^\./, '%2E')
}

/** The same for a name that differs from another one by the case of its letters only. */
function caselessStep(name: string): string {
  return plainStep(name).replace(/%[0-9A-F]{2}|[A-Z]/g, found =>
    found.length > 1 ? found : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Steps of folders, one for each piece. */
function inPieces(step: string): string {
  return (step.match(pieces) ?? []).join(`${pieceEnd}/`)
}

/**
 * The paths of folders by the names they stand for: usually the name itself. A name that is too long for one folder gets
 * several, one in the other.
 */
export function folderPaths(names: Iterable<string>): ReadonlyMap<string, string> {
  const distinct = [...new Set(names)]
  const counts = new Map<string, number>()
  for (const name of distinct) {
    const key = plainStep(name).toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return new Map(
    distinct.map(name => {
      const step = plainStep(name)
      if (step.length > stepCharsMax) return [name, inPieces(caselessStep(name))]
      return [name, counts.get(step.toLowerCase()) === 1 ? step : caselessStep(name)]
    }),
  )
}

/**
 * The paths of schema files below the folder `schema`, by their names. Names are paths themselves as tools push them, and
 * are kept as such. A name is written as one step where it is no relative path, where a folder would have the name of
 * a file, or where it shares a folder with another name that is spelled with other case.
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
      isNested(name) ? name.split('/').map(plainStep).join('/') : inPieces(caselessStep(name)),
    ]),
  )
}

/** The paths of the folders that a name leads through, and its own. */
function prefixesOf(name: string): readonly string[] {
  const steps = name.split('/')
  return steps.map((_, at) =>
    steps
      .slice(0, at + 1)
      .map(plainStep)
      .join('/'),
  )
}

/** Folders with a point in their names could be taken for files of an export. */
function isRelative(name: string): boolean {
  const steps = name.split('/')
  const folders = steps.slice(0, -1)
  return (
    folders.every(step => step !== '' && !step.includes('.')) &&
    steps.every(step => plainStep(step).length <= stepCharsMax)
  )
}

/** The name that a path of {@link folderPaths} or {@link schemaPaths} stands for; `/` between its steps. */
export function nameOfPath(path: string): string {
  return path.replaceAll(`${pieceEnd}/`, '').split('/').map(decoded).join('/')
}

/** Whether a folder is the beginning of a name only: the rest is a folder in it. */
export function isPiece(step: string): boolean {
  return step.endsWith(pieceEnd)
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
