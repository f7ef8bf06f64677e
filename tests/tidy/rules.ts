// The house rules that need a syntax tree. Each is a function from parsed files to violations. `code.test.ts` runs them
// over the sources, and over planted sources that break each rule.

import { posix } from 'node:path'
import { layerOf } from './layers.ts'
import type { Syntax } from './syntax.ts'

/** Violations, each as one line that begins with its position. */
export type Findings = readonly string[]

/** Entry points: no file of the repository imports their exports. */
const entries: ReadonlySet<string> = new Set(['src/app/index.ts', 'client/src/index.ts'])

/** Exports of `src`, the dashboard and the client that no other file imports. */
export function unusedExports(files: readonly Syntax[]): Findings {
  const used = new Map<string, Set<string> | 'all'>()
  for (const { target, names } of files.flatMap(({ imports }) => imports)) {
    const known = used.get(target)
    if (names === undefined || known === 'all') used.set(target, 'all')
    else used.set(target, new Set([...(known ?? []), ...names]))
  }
  return files
    .filter(({ path }) => isProgram(path) && !entries.has(path))
    .flatMap(({ path, exports }) => {
      const names = used.get(path)
      if (names === 'all') return []
      return exports
        .filter(({ name }) => !names?.has(name))
        .map(({ name, line }) => `${path}:${line}: nobody imports ${name}`)
    })
}

/** Articles, pronouns, prepositions and auxiliary verbs. */
const emptyWords: ReadonlySet<string> = new Set(
  [
    'a an the this that these those its their his it which who whose each every any all',
    'of in on at to for from by with as into about per and or',
    'is are be been was were has have had do does did can may will contains holds',
  ]
    .join(' ')
    .split(' '),
)

/** The stems of the words of a text, also of the words of its identifiers. */
function stemsOf(text: string): readonly string[] {
  const words = text.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ').match(/[\p{L}\d]+/gu) ?? []
  return words
    .map(word => word.toLowerCase())
    .filter(word => !emptyWords.has(word))
    .map(word =>
      word
        .replace(/(?<=..)(?:ies|y)$/, 'i')
        .replace(/(?<=..)(?:ing|ed|es|s)$/, '')
        .replace(/(?<=..)e$|([^aeiou])(?=\1$)/, ''),
    )
}

/** A link, or code with more than names, such as `[start..end)`. */
const reference = /\{@link |`(?![\w.]*\w[\w.]*`)[^`]+`/

/** Doc comments all of whose words are in the declaration, in the names around it, or in the file's path. */
export function repeatingComments(files: readonly Syntax[]): Findings {
  return files.flatMap(({ path, docComments }) =>
    docComments
      .map(({ line, text, declaration }) => ({
        line,
        text: text.replace(/[\s*]+/g, ' ').trim(),
        declaration,
      }))
      .filter(({ text, declaration }) => {
        if (reference.test(text)) return false
        const known = new Set(stemsOf(`${declaration} ${path}`))
        if (/\bboolean\b|\b(?:is|has)[A-Z]/.test(declaration)) known.add('whether')
        return stemsOf(text.replace(/^(?:Returns|Creates) /, '')).every(stem => known.has(stem))
      })
      .map(({ line, text }) => `${path}:${line}: the comment repeats the declaration: ${text}`),
  )
}

/** Casts through `unknown` or `never` without a comment that gives the reason. */
export function blindCasts(files: readonly Syntax[]): Findings {
  return files
    .filter(({ path }) => isProgram(path))
    .flatMap(({ path, blindCasts }) =>
      blindCasts
        .filter(({ hasReason }) => !hasReason)
        .map(({ line }) => `${path}:${line}: a cast without a reason`),
    )
}

/** Code that creates its functions only once in a process. */
const oncePerProcess = /^src\/(?:app|backup|cli)\//

/**
 * Generator functions that are created for each call of the code around them. With the first call of a generator
 * function, V8 allocates a map for it in the old generation. The map keeps everything that the function can reach until
 * the next full garbage collection: pages of sets took 1.5 times as long.
 */
export function nestedGenerators(files: readonly Syntax[]): Findings {
  return files
    .filter(({ path }) => path.startsWith('src/') && !oncePerProcess.test(path))
    .flatMap(({ path, nestedGenerators }) =>
      nestedGenerators.map(
        ({ line }) => `${path}:${line}: a generator function within a function or an object`,
      ),
    )
}

/**
 * Limits of the edge and the languages that are declared beside their code, because no client can meet them; with their
 * meaning.
 */
const innerBounds: ReadonlySet<string> = new Set([
  'src/server/http/listener.ts sessionMegabytesMax', // memory of an HTTP/2 session
  'src/server/http/turn-end.ts delayMsMax', // how long a response waits to be sent together with others
  'src/server/http/request-meter.ts statusMax', // a number of the protocol
  'src/fql4/functions/registry.ts seenMax', // a cache
  'src/fql4/functions/regular-expressions.ts shownMax', // how much of a pattern an error repeats
  'src/fql4/functions/numbers.ts intMax', // a number of Java
  'src/fql4/sets/former-names.ts combinationsMax', // meanings of a cursor that are tried
  'src/fql4/sets/streams.ts stepsMax', // steps after which reading continues with a seek
  'src/fql4/sets/element-reader.ts stepsMax', // steps after which reading continues with a seek
])

/** Limits outside of the tables of limits that clients can meet, or that have no comment. */
export function strayLimits(files: readonly Syntax[]): Findings {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, numbers }) =>
      numbers
        .filter(({ name }) => /(Max|Min)$/.test(name))
        .flatMap(({ name, line, hasSentence }) => {
          const facesClients = path.startsWith('src/server/http/') || path.startsWith('src/fql4/')
          if (facesClients && !innerBounds.has(`${path} ${name}`))
            return [`${path}:${line}: ${name} belongs into a table of limits`]
          return hasSentence ? [] : [`${path}:${line}: ${name} has no sentence`]
        }),
    )
}

/** Circular imports, including imports of types: a reader of one of these files must know all of them. */
export function importCycles(files: readonly Syntax[]): Findings {
  const targets = new Map(
    files.map(({ path, imports }) => [
      path,
      new Set(imports.map(({ target }) => target).filter(target => target !== path)),
    ]),
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const follow = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) cycles.push([...trail.slice(at), path].join(' → '))
    if (at >= 0 || done.has(path)) return
    for (const target of targets.get(path) ?? []) if (targets.has(target)) follow(target, [...trail, path])
    done.add(path)
  }
  for (const path of targets.keys()) follow(path, [])
  return cycles
}

/** Packages of the service that run in browsers, too. */
const browserPackages: ReadonlySet<string> = new Set(['acorn', 'csv-parse'])

/** Uses of globals that only Node has. Browsers fail when they load a module with such a use at its top level. */
const nodeGlobal = /\b(?:Buffer|process|setImmediate)\b(?=[.(])/
const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm

/**
 * Imports of Node, or of packages that need Node, and uses of Node's globals, in the files below a folder and in all files
 * that they load. `texts`: the texts of the files, by path.
 */
export function beyondBrowsers(
  files: readonly Syntax[],
  folder: string,
  texts: ReadonlyMap<string, string>,
): Findings {
  const loaded = loadedFiles(files, folder)
  const wrong: string[] = []
  for (const { imports, path } of loaded.values()) {
    if (!path.startsWith('src/')) continue
    const [global] = nodeGlobal.exec((texts.get(path) ?? '').replace(comments, '')) ?? []
    if (global !== undefined) wrong.push(`${path} uses ${global}`)
    for (const { target, isType } of imports)
      if (!isType && !loaded.has(target) && !browserPackages.has(target))
        wrong.push(`${path} imports ${target}`)
  }
  return wrong
}

/** The files below a folder, and all files that they load, by path. */
export function loadedFiles(files: readonly Syntax[], folder: string): ReadonlyMap<string, Syntax> {
  const byPath = new Map(files.map(each => [each.path, each]))
  const loaded = new Map(files.filter(({ path }) => path.startsWith(folder)).map(each => [each.path, each]))
  for (const { imports } of loaded.values()) {
    for (const { target, isType } of imports) {
      const file = byPath.get(target)
      if (!isType && file) loaded.set(target, file)
    }
  }
  return loaded
}

/** Folders that a layer may import but does not. */
export function unusedLayers(
  files: readonly Syntax[],
  table: Readonly<Record<string, readonly string[]>>,
): Findings {
  const used = new Set(
    files.flatMap(({ path, imports }) => imports.map(({ target }) => `${layerOf(path)} ${layerOf(target)}`)),
  )
  return Object.entries(table).flatMap(([layer, allowed]) =>
    allowed
      .filter(each => !used.has(`${layer} ${each}`))
      .map(each => `${layer} may import ${each}, and does not`),
  )
}

const testedFolder = (path: string): string =>
  posix.join('src', posix.relative('tests/unit', posix.dirname(path)))

/** Unit tests that import nothing of the folder of `src` that they mirror. */
export function misplacedTests(files: readonly Syntax[]): Findings {
  const byPath = new Map(files.map(each => [each.path, each]))
  return files
    .filter(({ path }) => path.startsWith('tests/unit/') && path.endsWith('.test.ts'))
    .filter(({ path }) => {
      const folder = testedFolder(path)
      return folder === 'src' || !reaches(path, folder, byPath)
    })
    .map(({ path }) => `${path} tests nothing of ${testedFolder(path)}`)
}

/** A whole engine over a store in memory, which unit tests of these folders send their queries to. */
const engineSupport = 'tests/support/engine.ts'
const behindEngine: ReadonlySet<string> = new Set(['src/model', 'src/fql4', 'src/engine'])

/** Returns whether a test imports a file of a folder, directly or through other test files. */
function reaches(path: string, folder: string, files: ReadonlyMap<string, Syntax>): boolean {
  const targets = files.get(path)?.imports.map(({ target }) => target) ?? []
  return targets.some(
    target =>
      target.startsWith(`${folder}/`) ||
      (target === engineSupport && behindEngine.has(folder)) ||
      (target.startsWith('tests/') && reaches(target, folder, files)),
  )
}

/** Names of `path#name` in a page that the file does not declare. */
export function unknownSymbols(page: string, text: string, files: ReadonlyMap<string, Syntax>): Findings {
  return [...text.matchAll(/`((?:src|tests|scripts|dashboard)\/[\w./-]+)#([#\w.$]+)`/g)].flatMap(
    ([whole, path = '', symbol = '']) => {
      const declared = files.get(path)?.declared
      const known = symbol.split('.').every(name => declared?.has(name) || declared?.has(`#${name}`))
      return known ? [] : [`${page}: ${whole} names nothing that ${path} declares`]
    },
  )
}

function isProgram(path: string): boolean {
  return ['src/', 'dashboard/src/', 'client/src/'].some(folder => path.startsWith(folder))
}
