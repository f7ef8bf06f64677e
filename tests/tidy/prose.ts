// Measures comments and pages by the rules for sentences in CONTRIBUTING.md, by folder:
//
//     npx node tests/tidy/prose.ts [--update] [folder or file …]
//
// The command prints the shares, and for the folders that it names each sentence that breaks a rule. `--update` lowers
// the bounds of these folders in the list of those that are not rewritten yet (`prose-pending.json`).
//
// The share is a measure, not a ban. A good sentence may begin with a listed word ("One worker per core is enough"); the
// bound leaves room for it. A sentence that only moves the word ("It is what …") passes and reads worse: name the
// subject instead.

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { type Sentence, sentencesOf, wordCount } from './sentences.ts'
import { files, read } from './sources.ts'

/** The sentences of one folder, and those that break a rule. */
export interface Measure {
  readonly total: number
  /** Sentences that begin with a word which usually takes the place of their subject. */
  readonly headless: readonly Sentence[]
  /** Sentences of more than 35 words. */
  readonly long: readonly Sentence[]
  /** Texts with a phrase of `neverRight`. */
  readonly dialect: readonly Sentence[]
}

/** Upper bounds: two shares in percent, and a number of sentences. */
export interface Bounds {
  readonly headless: number
  readonly long: number
  readonly dialect: number
}

export const bounds: Bounds = { headless: 3, long: 1, dialect: 0 }

const wordsMax = 35
const headless = /^["'(]*(what|who|whose|where|that|those|such|one|whether|something|nothing)\b(?!-)/i

interface Phrase {
  readonly pattern: RegExp
  readonly instead: string
}

/** Phrases that no sentence needs, and type names that are participles instead of nouns. */
const neverRight: readonly Phrase[] = [
  { pattern: /; (what|who|whose|such as|those that|one that)\b/, instead: 'a sentence with a subject' },
  { pattern: /\bwhoever\b/i, instead: 'the client, the caller' },
  { pattern: /\b(is|are|was|were|be|been) told (of|about)\b/, instead: 'is notified of' },
  { pattern: /(?<!there )\b(is|are|was|were) none\b(?! of)/, instead: 'is not a …, does not exist' },
  { pattern: /\b(made|begins?|built|starts?) anew\b/, instead: 'rebuilt, restarts' },
  { pattern: /\bfall(s|ing|en)? out of\b|\bfallen (version|row|event)/, instead: 'expires' },
  { pattern: /\b(half|9\d of 100) within\b/, instead: 'p50, p99' },
  { pattern: /\basks? itself\b/, instead: 'its own requests' },
  { pattern: /\blook(s|ed|ing)? again\b/, instead: 're-reads, checks again' },
  { pattern: /\bhas not come yet\b/, instead: 'is in the future' },
  { pattern: /\bof late\b/, instead: 'recently' },
  { pattern: /\bcannot be had\b/, instead: 'is not available' },
  { pattern: /\bworthless\b/, instead: 'invalid' },
  { pattern: /\bin vain\b/, instead: 'without effect' },
  { pattern: /\bfor ever\b/, instead: 'forever' },
  { pattern: /\bcomings and goings\b/, instead: 'add and remove events' },
  { pattern: /\bline of checks\b/, instead: 'queue' },
  { pattern: /\b(half a work|the works of)\b/, instead: 'transaction' },
  { pattern: /\b(holes? in the (service|security)|security holes?)\b/, instead: 'vulnerability' },
  { pattern: /\bdata folders?\b/i, instead: 'data directory' },
  { pattern: /^(Kept|Told|Held|Noted|Found|Asked|Taken|Fallen)[A-Z]\w*$/, instead: 'what the thing is' },
]

/** The term to use instead, where a text has a phrase that is never right. */
export function insteadOf(text: string): string | undefined {
  return neverRight.find(({ pattern }) => pattern.test(text))?.instead
}

export function measure(sentences: readonly Sentence[], typeNames: readonly Sentence[] = []): Measure {
  return {
    total: sentences.length,
    headless: sentences.filter(({ text }) => headless.test(text)),
    long: sentences.filter(({ text }) => wordCount(text) > wordsMax),
    dialect: [...sentences, ...typeNames].filter(({ text }) => insteadOf(text) !== undefined),
  }
}

/** Compares a folder with its bounds. A single sentence is always allowed: in a small folder it exceeds the share. */
export function keepsTo({ total, headless, long, dialect }: Measure, bounds: Bounds): boolean {
  const allowed = (percent: number) => Math.max(1, (total * percent) / 100)
  return (
    headless.length <= allowed(bounds.headless) &&
    long.length <= allowed(bounds.long) &&
    dialect.length <= bounds.dialect
  )
}

/** The pages, and the sources with comments. Recorded fixtures and built files are left out. */
function proseFiles(): readonly string[] {
  const pages = files('{*.md,{docs,client,examples}/**/*.md,deploy/*}')
  const sources = files(
    '{{src,tests,bench,scripts,commonjs,examples}/**/*.{ts,tsx,js},{client,dashboard}/{src/**/*.{ts,tsx},*.js}}',
  )
  return [...pages, ...sources].filter(path => !/\/(fixtures|dist)\//.test(path))
}

/** The folder that a file is measured with: two levels deep, and three below a folder `src`. */
function folderOf(path: string): string {
  const parts = dirname(path).split('/')
  return parts.slice(0, parts[0] === 'src' || parts[1] === 'src' ? 3 : 2).join('/')
}

export function measureFolders(paths = proseFiles()): ReadonlyMap<string, Measure> {
  const folders = [...Map.groupBy(paths, folderOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(
    folders.map(([folder, paths]) => {
      const texts = paths.map(path => ({ path, text: read(path) }))
      const sentences = texts.flatMap(({ path, text }) => sentencesOf(path, text))
      return [
        folder,
        measure(
          sentences,
          texts.flatMap(({ path, text }) => typeNamesOf(path, text)),
        ),
      ]
    }),
  )
}

function typeNamesOf(path: string, text: string): readonly Sentence[] {
  return text.split('\n').flatMap((line, index) => {
    const name = /^(?:export )?(?:interface|class|type) (\w+)/.exec(line)?.[1]
    return name === undefined ? [] : [{ path, line: index + 1, text: name }]
  })
}

const pendingFile = new URL('prose-pending.json', import.meta.url)

/** Folders that are not rewritten yet, with their own bounds. The list only shrinks. */
export function readPending(): Readonly<Record<string, Bounds>> {
  return JSON.parse(readFileSync(pendingFile, 'utf8'))
}

/** Shares are rounded up to whole percents, because deleting a good sentence raises the share of the bad ones. */
function lowered(old: Bounds, { total, headless, long, dialect }: Measure): Bounds {
  const percent = ({ length }: readonly Sentence[]) => Math.ceil((100 * length) / total)
  return {
    headless: Math.min(old.headless, percent(headless)),
    long: Math.min(old.long, percent(long)),
    dialect: Math.min(old.dialect, dialect.length),
  }
}

function updatePending(folders: (folder: string) => boolean): void {
  const measures = measureFolders()
  const pending = Object.entries(readPending()).flatMap(([folder, old]) => {
    if (!folders(folder)) return [[folder, old] as const]
    const now = measures.get(folder)
    return now && !keepsTo(now, bounds) ? [[folder, lowered(old, now)] as const] : []
  })
  const lines = pending.map(([folder, bounds]) => ` ${JSON.stringify(folder)}: ${JSON.stringify(bounds)}`)
  writeFileSync(pendingFile, `{\n${lines.join(',\n')}\n}\n`)
}

function summary(folder: string, { total, headless, long, dialect }: Measure): string {
  const share = ({ length }: readonly Sentence[]) => `${((100 * length) / total).toFixed(1)} %`.padStart(7)
  const counts = `${String(dialect.length).padStart(4)} dialect  ${String(total).padStart(5)} sentences`
  return `${share(headless)} headless ${share(long)} long ${counts}  ${folder}`
}

function offences({ headless, long, dialect }: Measure): readonly string[] {
  const say = ({ path, line, text }: Sentence, why: string) => `  ${path}:${line}: ${why}: ${text}`
  return [
    ...headless.map(each => say(each, 'headless')),
    ...long.map(each => say(each, `${wordCount(each.text)} words`)),
    ...dialect.map(each => say(each, `instead: ${insteadOf(each.text)}`)),
  ]
}

if (import.meta.main) {
  const options = { update: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const names = positionals.map(name => name.replace(/\/$/, ''))
  const isNamed = (path: string) => names.some(name => path === name || path.startsWith(`${name}/`))
  const measures = measureFolders(proseFiles().filter(path => names.length === 0 || isNamed(path)))
  for (const [folder, each] of measures) {
    console.log(summary(folder, each))
    if (names.length > 0) for (const line of offences(each)) console.log(line)
  }
  const all = [...measures.values()]
  const total = all.reduce((sum, each) => sum + each.total, 0)
  const together = {
    total,
    headless: all.flatMap(each => each.headless),
    long: all.flatMap(each => each.long),
    dialect: all.flatMap(each => each.dialect),
  }
  console.log(summary('all', together))
  if (values.update) updatePending(folder => names.length === 0 || isNamed(folder))
}
