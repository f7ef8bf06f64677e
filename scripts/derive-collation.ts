// Derives the table of collation weights (src/values/collation-data.ts) from the runtime's own root collator. Run once
// per version of the table: `node scripts/derive-collation.ts`. Stored keys depend on the result, so a new table needs
// a new version of the data format and rebuilt indexes.
//
// A collator can only compare texts, but that is enough. U+FFFF sorts above everything. So a character whose base is
// greater than P but less than P + U+FFFF begins with the weight of P and has further weights: it is an expansion.
// Binary search finds its next weights in the same way. On the second level, combining marks are searched like letters
// on the first. Characters that differ from a letter only on the third level are ranked among themselves, because
// third-level weights are only compared if the first two levels are equal. A weight that no character has alone (such
// as the weight inside æ that makes it differ from ae) becomes a hidden weight between its neighbours. U+034F is
// ignored and blocks contractions, so it separates all tested characters.

import { writeFileSync } from 'node:fs'
import { assignPrimaryCodes } from '../src/values/collation-table.ts'
import { type CollationSource, encodeCollation, type SourceElement } from './collation-encoding.ts'
import { readOptions } from './command-line.ts'

readOptions({
  usage:
    'npx node scripts/derive-collation.ts\n\nWrites src/values/collation-data.ts, for a new version of the data format.',
  options: {},
})

const base = new Intl.Collator('und', { sensitivity: 'base' }).compare
const accent = new Intl.Collator('und', { sensitivity: 'accent' }).compare
const variant = new Intl.Collator('und', { sensitivity: 'variant' }).compare

const joiner = '\u034f'
const highest = '\uffff'

/** A primary weight, with the characters that have only this weight, by the third level. */
interface Letter {
  readonly index: number
  /** Cases for each third-level weight, ascending. */
  readonly cases: string[]
}

/** A secondary weight with its characters. */
type Mark = Letter

const letters: Letter[] = []
const marks: Mark[] = []
const elements = new Map<string, SourceElement[]>()

function join(...parts: readonly string[]): string {
  return parts.join(joiner)
}

/** Number of items for which `below` holds, which must be a prefix. */
function partition<T>(items: readonly T[], below: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (below(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

function assignedCharacters(): string[] {
  const characters: string[] = []
  for (let point = 0; point < 0x110000; point++) {
    const text = String.fromCodePoint(point)
    // U+FFFE is not a character, but the root collation gives it a weight.
    if (/[\p{Cn}\p{Co}\p{Cs}]/u.test(text) && point !== 0xfffe) continue
    if (text.normalize('NFD') === text) characters.push(text)
  }
  return characters
}

function composedCharacters(): string[] {
  const composed: string[] = []
  for (let point = 0; point < 0x110000; point++) {
    const text = String.fromCodePoint(point)
    if (text.normalize('NFD') !== text) composed.push(text)
  }
  return composed
}

/** Finds the letters in one pass over all sorted characters. */
function findLetters(characters: readonly string[]): void {
  const sorted = characters.filter(text => base(text, '') !== 0).sort((a, b) => variant(a, b))
  let current: string | undefined
  for (const text of sorted) {
    if (current !== undefined) {
      if (base(text, current) === 0) {
        if (accent(text, current) === 0) addCase(letters[letters.length - 1] as Letter, text)
        continue
      }
      if (base(text, join(current, highest)) < 0) continue
    }
    letters.push({ index: letters.length, cases: [text] })
    current = text
  }
}

function findMarks(characters: readonly string[]): void {
  const sorted = characters
    .filter(text => base(text, '') === 0 && accent(text, '') !== 0)
    .sort((a, b) => variant(a, b))
  const last = sorted[sorted.length - 1] as string
  let current: string | undefined
  for (const text of sorted) {
    if (current !== undefined) {
      if (accent(text, current) === 0) {
        addCase(marks[marks.length - 1] as Mark, text)
        continue
      }
      if (accent(text, join(current, last, last)) < 0) continue
    }
    marks.push({ index: marks.length, cases: [text] })
    current = text
  }
}

function addCase(letter: Letter, text: string): void {
  if (variant(text, letter.cases[letter.cases.length - 1] as string) !== 0) letter.cases.push(text)
}

function first(letter: Letter): string {
  return letter.cases[0] as string
}

/** Letters with the primary weights of a text. */
function primaryLetters(text: string): Letter[] {
  const found: Letter[] = []
  while (found.length < 32) {
    const known = found.map(first)
    if (base(text, join(...known)) === 0) return found
    const index = partition(letters, letter => base(join(...known, first(letter)), text) <= 0) - 1
    const letter = letters[index]
    if (!letter) break
    found.push(letter)
  }
  throw new Error(`no letters make up ${spell(text)}`)
}

/** A letter or mark among the weights of a text. */
interface Slot {
  readonly letter: Letter
  readonly isMark: boolean
}

/** The weights of a text on the first two levels. */
interface Skeleton {
  readonly slots: Slot[]
  /** A weight that no character has alone, after slot `after`, between the marks `gap` - 1 and `gap`. */
  readonly hidden: { readonly after: number; readonly gap: number } | undefined
}

const topMark = (): string => first(marks[marks.length - 1] as Mark)

/** Finds the marks between and after the letters. */
function skeleton(text: string): Skeleton {
  const found = primaryLetters(text)
  const slots: Slot[] = []
  for (let next = 0; next <= found.length; next++) {
    const rest = found.slice(next).map(first)
    for (;;) {
      const known = slots.map(slot => first(slot.letter))
      if (accent(text, join(...known, ...rest)) === 0) {
        for (const letter of found.slice(next)) slots.push({ letter, isMark: false })
        return { slots, hidden: undefined }
      }
      const gap = partition(marks, mark => accent(join(...known, first(mark), ...rest), text) <= 0)
      if (gap === 0) {
        if (accent(text, join(...known, ...rest)) <= 0 || next < found.length) break
      }
      const mark = marks[gap - 1]
      if (mark && accent(text, join(...known, first(mark), topMark(), topMark(), ...rest)) < 0) {
        slots.push({ letter: mark, isMark: true })
        continue
      }
      for (const letter of found.slice(next)) slots.push({ letter, isMark: false })
      return { slots, hidden: { after: known.length, gap } }
    }
    const letter = found[next]
    if (letter) slots.push({ letter, isMark: false })
  }
  throw new Error(`no marks make up ${spell(text)}`)
}

/** A text whose final ranks {@link finish} assigns, by comparison with other texts of the same weights. */
interface Pending {
  readonly text: string
  readonly slots: readonly Slot[]
  readonly hidden: Skeleton['hidden']
  /** Twice the rank of a known weight; odd for a weight between two known ones. */
  readonly ranks: number[]
  /** Slot whose rank is between two known ranks. */
  readonly between: number | undefined
}

/** Ranks the third level slot by slot. */
function rank(text: string): Pending {
  const { slots, hidden } = skeleton(text)
  const ranks = slots.map(() => 0)
  if (hidden) return { text, slots, hidden, ranks, between: undefined }
  const known: string[] = []
  for (const [position, slot] of slots.entries()) {
    const rest = slots.slice(position + 1)
    const low = rest.map(({ letter }) => first(letter))
    const high = rest.map(({ letter }) => letter.cases[letter.cases.length - 1] as string)
    const { cases } = slot.letter
    const count = partition(cases, item => variant(join(...known, item, ...low), text) <= 0)
    const item = cases[count - 1]
    if (item === undefined) {
      ranks[position] = 0
      known.push(cases[0] as string)
      continue
    }
    ranks[position] = 2 * (count - 1)
    if (variant(text, join(...known, item, ...high)) > 0) {
      ranks[position] = 2 * count - 1
      // The ranks after one that no character has alone cannot be tested; such characters have the same style throughout.
      ranks.fill(1, position + 1)
      return { text, slots, hidden, ranks, between: position }
    }
    known.push(item)
  }
  return { text, slots, hidden, ranks, between: undefined }
}

function spell(text: string): string {
  return [...text].map(character => `U+${character.codePointAt(0)?.toString(16)}`).join(' ')
}

/** Finds sequences that sort as a unit, within blocks of 256 characters and among decompositions. */
function findContractions(characters: readonly string[], combining: readonly string[]): string[] {
  const found = new Set<string>()
  const differs = (text: string): boolean =>
    text.normalize('NFD') === text && variant(text, join(...text)) !== 0
  for (let point = 0; point < 0x110000; point++) {
    // Hangul syllables have the weights of their letters.
    if (point >= 0xac00 && point < 0xd7a4) continue
    const parts = String.fromCodePoint(point).normalize('NFD')
    if ([...parts].length > 1 && differs(parts)) found.add(parts)
  }
  const blocks = Map.groupBy(characters, text => (text.codePointAt(0) as number) >> 8)
  for (const [block, members] of blocks) {
    // Ideographs have no contractions.
    if ((block >= 0x34 && block < 0xa0) || block >= 0x200) continue
    for (const left of members)
      for (const right of members) if (differs(left + right)) found.add(left + right)
  }
  for (const left of characters) {
    if ((left.codePointAt(0) as number) > 0x24ff) break
    for (const right of combining) if (differs(left + right)) found.add(left + right)
  }
  return minimal(found)
}

/** Removes the sequences that follow from a shorter one. */
function minimal(found: ReadonlySet<string>): string[] {
  return [...found].filter(text => {
    const parts = [...text]
    if (parts.length < 3) return true
    const head = parts.slice(0, -1).join('')
    const tail = parts.slice(1).join('')
    const viaHead = found.has(head) && variant(text, join(head, parts[parts.length - 1] as string)) === 0
    const viaTail = found.has(tail) && variant(text, join(parts[0] as string, tail)) === 0
    return !viaHead && !viaTail
  })
}

/** Assigns the final numbers of the hidden weights and of the ranks between known ones. */
function finish(pending: readonly Pending[]): void {
  const groups = Map.groupBy(pending, ({ slots, hidden }) =>
    JSON.stringify([slots.map(slot => [slot.letter.index, slot.isMark]), hidden?.after, hidden?.gap]),
  )
  for (const group of groups.values()) {
    group.sort((a, b) => variant(a.text, b.text))
    let hiddenRank = -1
    let caseRank = 0
    let previous: Pending | undefined
    for (const item of group) {
      if (!previous || accent(previous.text, item.text) !== 0) {
        hiddenRank++
        caseRank = 0
      } else if (variant(previous.text, item.text) !== 0) caseRank++
      previous = item
      elements.set(item.text, elementsOf(item, hiddenRank, caseRank))
    }
  }
}

function elementsOf(item: Pending, hiddenRank: number, caseRank: number): SourceElement[] {
  const list: SourceElement[] = item.slots.map((slot, position) => ({
    type: slot.isMark ? 'mark' : 'letter',
    index: slot.letter.index,
    rank: item.ranks[position] ?? 0,
  }))
  if (item.hidden) {
    const { after, gap } = item.hidden
    if (gap !== marks.length) throw new Error(`a hidden weight among the marks: ${spell(item.text)}`)
    list.splice(after, 0, { type: 'mark', index: gap + hiddenRank, rank: 2 * caseRank })
  }
  return list
}

function derive(): CollationSource {
  const characters = assignedCharacters()
  const combining = characters.filter(text => /[\u0300-\u036f\u00b7\u0483-\u0487]/.test(text))
  const contractions = findContractions(characters, combining)
  findLetters([...characters, ...contractions])
  findMarks(characters)
  const representatives = new Set([...letters, ...marks].map(first))
  const ignorable: string[] = []
  const pending: Pending[] = []
  let failures = 0
  for (const text of [...characters, ...contractions]) {
    if (representatives.has(text)) continue
    if (variant(text, '') === 0) {
      ignorable.push(text)
      continue
    }
    try {
      pending.push(rank(text))
    } catch (error) {
      failures++
      console.error(String(error))
    }
  }
  finish(pending)
  console.log({
    characters: characters.length,
    letters: letters.length,
    marks: marks.length,
    ignorable: ignorable.length,
    contractions: contractions.length,
    others: elements.size,
    hidden: pending.filter(item => item.hidden).length,
    between: pending.filter(item => item.between !== undefined).length,
    failures,
  })
  return {
    version: 1,
    origin: `Derived from ICU ${process.versions.icu}, CLDR ${process.versions.cldr}, Unicode ${process.versions.unicode}.`,
    letters: letters.map(first),
    marks: marks.map(first),
    ignorable,
    composed: composedCharacters(),
    elements,
  }
}

/** The weights of ASCII characters for the fast path, the same as in the table. */
function asciiSource(source: CollationSource): string {
  const codes = assignPrimaryCodes(
    source.letters.map(text => ([...text].length === 1 ? (text.codePointAt(0) as number) : text)),
  )
  const primaries: number[] = []
  const tertiaries: number[] = []
  for (let point = 0; point < 0x80; point++) {
    const text = String.fromCharCode(point)
    const letter = source.letters.indexOf(text)
    const element = source.elements.get(text)?.[0]
    const index = element ? element.index : letter
    primaries.push(index < 0 ? 0 : (codes[index] as number) & 0xff)
    tertiaries.push(1 + (element?.rank ?? 0))
  }
  return `// Written by scripts/derive-collation.ts; never edit. The weights of ASCII characters, as the whole table has them.

/** Primary weights; 0: ignored. */
// biome-ignore format: a table, sixteen characters a line
export const asciiPrimaries = Uint8Array.of(
${rows(primaries)}
)

/** Tertiary weights. */
// biome-ignore format: a table, sixteen characters a line
export const asciiTertiaries = Uint8Array.of(
${rows(tertiaries)}
)
`
}

function rows(numbers: readonly number[]): string {
  const lines = Array.from({ length: numbers.length / 16 }, (_, row) =>
    numbers.slice(row * 16, row * 16 + 16),
  )
  return lines.map(line => `  ${line.join(', ')},`).join('\n')
}

function write(name: string, content: string): void {
  writeFileSync(new URL(`../src/values/${name}`, import.meta.url), content)
}

const source = derive()
write('collation-data.ts', encodeCollation(source))
write('collation-ascii.ts', asciiSource(source))
