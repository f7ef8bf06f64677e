// Unicode normalization in linear time. The runtime uses insertion sort for the combining marks after a character,
// which takes minutes for a million marks. Therefore this module first decomposes and sorts long runs of marks, which
// does not change the normal forms of the text. Then the runtime normalizes the text.

import { longCall, step } from '../base/effort.ts'
import { upsert } from '../base/upsert.ts'

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/** Runs of at least this number of marks are sorted here. */
const longRun = 32

const firstMark = 0x300

/** In a text without marks, steps are counted once per this number of UTF-16 units. */
const unitsPerCount = 4096

export function normalize(text: string, form: NormalForm): string {
  const ordered = withOrderedMarks(text, form)
  longCall(ordered.length)
  return ordered.normalize(form)
}

function withOrderedMarks(text: string, form: NormalForm): string {
  let result = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) < firstMark) {
      at++
      if (at % unitsPerCount === 0) step(unitsPerCount >> 4)
      continue
    }
    const end = runEnd(text, at)
    if (end - at >= longRun) {
      result += text.slice(copied, at) + orderedRun(text.slice(at, end), form)
      copied = end
    }
    at = Math.max(end, at + 1)
  }
  return copied === 0 ? text : result + text.slice(copied)
}

/** The end of the run of marks that begins at `start`. */
function runEnd(text: string, start: number): number {
  let at = start
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit < firstMark) break
    const point = text.codePointAt(at) as number
    step()
    if (!isMark(point)) break
    at += point > 0xffff ? 2 : 1
  }
  return at
}

/** Returns the run decomposed and in canonical order. */
function orderedRun(run: string, form: NormalForm): string {
  const decomposed = form === 'NFC' || form === 'NFD' ? 'NFD' : 'NFKD'
  const parts: string[] = []
  let classes: (string[] | undefined)[] = []
  const flush = () => {
    for (const marks of classes) if (marks) for (const mark of marks) parts.push(mark)
    classes = []
  }
  for (const character of run) {
    step()
    for (const mark of decompositionOf(character, decomposed)) {
      const order = classOf(mark)
      if (order < 0) {
        flush()
        parts.push(mark)
        continue
      }
      const marks = classes[order]
      if (marks) marks.push(mark)
      else classes[order] = [mark]
    }
  }
  flush()
  return parts.join('')
}

/** Caches. There are about three thousand marks, so the caches stay small. */
const knownMarks = new Map<number, boolean>()
const knownClasses = new Map<string, number>()
const decompositions = { NFD: new Map<string, string[]>(), NFKD: new Map<string, string[]>() }

/** `knownMarks` also contains code points that are not marks. */
const rememberedMax = 16_384

const markPattern = /^\p{M}$/u

/** Half-width characters that become marks in NFKC and NFKD. */
const compatibilityMarks = new Set([0xff9e, 0xff9f])

function isMark(point: number): boolean {
  let known = knownMarks.get(point)
  if (known === undefined) {
    known = compatibilityMarks.has(point) || markPattern.test(String.fromCodePoint(point))
    if (knownMarks.size < rememberedMax) knownMarks.set(point, known)
  }
  return known
}

function decompositionOf(character: string, form: 'NFD' | 'NFKD'): string[] {
  return upsert(decompositions[form], character, () => [...character.normalize(form)])
}

/** A mark of each canonical combining class, in ascending order of the classes, computed on demand. */
const representatives: string[] = []

/** The rank of a mark's canonical combining class; -1 if normalization moves no other mark across this mark. */
function classOf(character: string): number {
  let known = knownClasses.get(character)
  if (known === undefined) {
    if (representatives.length === 0) findRepresentatives()
    const isOfClass = (other: string) => !movesBefore(character, other) && !movesBefore(other, character)
    known = isMovable(character) ? representatives.findIndex(isOfClass) : -1
    knownClasses.set(character, known)
  }
  return known
}

/** The runtime does not expose combining classes, but normalization sorts two marks by their classes. */
function findRepresentatives(): void {
  for (let point = firstMark; point <= lastMark; point++) {
    // There are no marks from the Hangul syllables up to U+F900.
    if (point === 0xac00) point = 0xf900
    const character = String.fromCodePoint(point)
    if (!markPattern.test(character) || character.normalize('NFKD') !== character || !isMovable(character))
      continue
    const at = representatives.findIndex(other => !movesBefore(other, character))
    if (at < 0) representatives.push(character)
    else if (movesBefore(character, representatives[at] as string)) representatives.splice(at, 0, character)
  }
}

/** Normalization moves no mark whose code point is greater. */
const lastMark = 0x1ffff
/** Marks of the lowest and of the highest combining class. */
const [lowest, highest] = ['\u0334', '\u0345']

function isMovable(character: string): boolean {
  return movesBefore(lowest, character) || movesBefore(character, highest)
}

/** Returns whether normalization moves `mark` before `other`. */
export function movesBefore(mark: string, other: string): boolean {
  return (other + mark).normalize('NFD') !== other + mark
}
