// Searches with backtracking, like java.util.regex. The pending alternatives are on an explicit stack, so long texts do
// not overflow the call stack. Steps are counted, so a search that would take hours fails after the same number of
// steps on every machine.
//
// As in Java, backtracking does not restore the captures inside a look-around or atomic group that has matched.

import { step } from '../../base/effort.ts'
import { isPairAt } from '../code-points.ts'
import { anchorMatches } from './anchors.ts'
import { type BacktrackProgram, type Instruction, op } from './backtrack-program.ts'
import { type CodePointTest, equalsInEitherCase } from './code-point-test.ts'
import { SearchTooLongError } from './pattern-errors.ts'

const backtrackSearchLimits = {
  /** Maximum number of steps of a backtracking search, without the additional steps below; own limit. */
  regexBacktrackStepsMax: 16_777_216,
  /** Number of additional steps that each UTF-16 unit of the text allows; own limit. */
  regexBacktrackStepsPerUnit: 32,
  /** Maximum number of saved alternatives of a backtracking search; own limit. */
  regexBacktrackFramesMax: 4_194_304,
} as const

/** Types of frames on the stack of alternatives. A frame consists of four numbers: the type and three arguments. */
const frame = {
  /** Continue at an instruction. Arguments: index of the instruction, position. */
  choice: 0,
  /** Restore a register. Arguments: number of the register, previous value. */
  register: 1,
  /** Restore a group. Arguments: number of the group, previous start, previous end. */
  group: 2,
  /** Shorten a greedy run. Arguments: instruction, shortest end, current end. */
  run: 3,
  /** Lengthen a reluctant run. Arguments: instruction, position, maximum number of additional characters. */
  moreOfRun: 4,
  /** Repeat the body of a reluctant loop. Arguments: instruction, position. */
  moreOfLoop: 5,
  /** Move the start of a look-behind back. Arguments: instruction, start, maximum number of characters to move. */
  back: 6,
} as const

const frameSize = 4
const firstFrames = 64

/** Returns the maximum number of steps for finding all matches in a text. */
function stepsMax(text: string): number {
  return (
    backtrackSearchLimits.regexBacktrackStepsMax +
    backtrackSearchLimits.regexBacktrackStepsPerUnit * text.length
  )
}

/** Finds the matches in ascending order. */
export class BacktrackSearch {
  /** The latest match. */
  start = 0
  end = 0
  steps = 0
  readonly #instructions: readonly Instruction[]
  readonly #text: string
  readonly #stepsMax: number
  readonly #registers: Int32Array
  /** -1 for a group without a match. */
  readonly #groups: Int32Array
  #stack = new Int32Array(firstFrames * frameSize)
  #height = 0
  #previousEnd = 0
  #next = 0
  /** The current offset in the text. */
  #at = 0

  constructor({ groupCount, instructions, registers }: BacktrackProgram, text: string) {
    this.#instructions = instructions
    this.#text = text
    this.#stepsMax = stepsMax(text)
    this.#registers = new Int32Array(registers)
    this.#groups = new Int32Array(2 * (groupCount + 1))
  }

  /** Returns false if no match follows. Throws {@link SearchTooLongError}. */
  find(): boolean {
    const text = this.#text
    this.#groups.fill(-1)
    const first = this.#instructions[0] as Instruction
    const fixed = first.op === op.anchor && first.anchor === 'textStart'
    for (let from = this.#next; from <= text.length; from += isPairAt(text, from) ? 2 : 1) {
      if (fixed && from > 0) break
      if (this.#matchesAt(from)) {
        this.start = from
        this.end = this.#previousEnd = this.#at
        const width = isPairAt(text, this.end) ? 2 : 1
        this.#next = this.end > from ? this.end : this.end + width
        return true
      }
    }
    this.#next = text.length + 1
    return false
  }

  /** The text of a group in the latest match; undefined if the group has not matched. */
  group(number: number): string | undefined {
    if (number === 0) return this.#text.slice(this.start, this.end)
    const start = this.#groups[number * 2] as number
    return start < 0 ? undefined : this.#text.slice(start, this.#groups[number * 2 + 1])
  }

  #matchesAt(from: number): boolean {
    this.#height = 0
    this.#at = from
    const { length } = this.#instructions
    let counter = 0
    while (counter < length) {
      this.#countSteps(1)
      const instruction = this.#instructions[counter] as Instruction
      if (instruction.op === op.match) return true
      counter = this.#run(instruction, counter)
      if (counter < 0) counter = this.#backtrack()
      if (counter < 0) return false
    }
    return false
  }

  #countSteps(steps: number): void {
    this.steps += steps
    step(steps)
    if (this.steps > this.#stepsMax) throw new SearchTooLongError()
  }

  /** Returns the index of the next instruction, or -1 if the instruction fails. */
  #run(instruction: Instruction, counter: number): number {
    const { a, b } = instruction
    switch (instruction.op) {
      case op.character:
        return this.#read(instruction.test as CodePointTest) ? counter + 1 : -1
      case op.literal:
        return this.#readLiteral(a) ? counter + 1 : -1
      case op.run:
        return this.#readRun(instruction, counter)
      case op.jump:
        return instruction.target
      case op.split:
        this.#push(frame.choice, instruction.target, this.#at, 0)
        return counter + 1
      case op.mark:
        this.#set(a, this.#at)
        return counter + 1
      case op.capture:
        this.#capture(a, this.#registers[b] as number)
        return counter + 1
      case op.count:
        this.#set(a, 1)
        return counter + 1
      case op.loop:
        return this.#loop(instruction, counter)
      case op.enter:
        this.#registers[a] = this.#height
        this.#registers[b] = this.#at
        return counter + 1
      case op.commit:
        this.#height = this.#registers[a] as number
        return counter + 1
      case op.restore:
        this.#at = this.#registers[b] as number
        return counter + 1
      case op.back:
        return this.#goBack(instruction, counter)
      case op.arrive:
        return this.#at === this.#registers[b] ? counter + 1 : -1
      case op.anchor:
        return anchorMatches(instruction.anchor, this.#text, this.#at, this.#previousEnd) ? counter + 1 : -1
      case op.reference:
        return this.#readGroup(instruction) ? counter + 1 : -1
      default:
        return -1
    }
  }

  /** Resumes the latest alternative. Returns the index of the next instruction, or -1 without an alternative. */
  #backtrack(): number {
    while (this.#height > 0) {
      this.#height -= frameSize
      const stack = this.#stack
      const height = this.#height
      const first = stack[height + 1] as number
      const second = stack[height + 2] as number
      const third = stack[height + 3] as number
      switch (stack[height]) {
        case frame.choice:
          this.#at = second
          return first
        case frame.register:
          this.#registers[first] = second
          break
        case frame.group:
          this.#groups[first * 2] = second
          this.#groups[first * 2 + 1] = third
          break
        case frame.run:
          return this.#shortenRun(first, second, third)
        case frame.moreOfRun:
          if (!this.#lengthenRun(first, second, third)) break
          return first + 1
        case frame.moreOfLoop:
          this.#at = second
          return this.#beginIteration(this.#instructions[first] as Instruction)
        case frame.back:
          if (!this.#moveFartherBack(first, second, third)) break
          return first + 1
      }
      this.#countSteps(1)
    }
    return -1
  }

  #push(kind: number, first: number, second: number, third: number): void {
    const height = this.#height
    if (height === this.#stack.length) this.#grow()
    const stack = this.#stack
    stack[height] = kind
    stack[height + 1] = first
    stack[height + 2] = second
    stack[height + 3] = third
    this.#height = height + frameSize
  }

  #grow(): void {
    if (this.#height >= backtrackSearchLimits.regexBacktrackFramesMax * frameSize)
      throw new SearchTooLongError()
    const larger = new Int32Array(this.#stack.length * 2)
    larger.set(this.#stack)
    this.#stack = larger
  }

  #set(register: number, value: number): void {
    this.#push(frame.register, register, this.#registers[register] as number, 0)
    this.#registers[register] = value
  }

  #capture(group: number, start: number): void {
    const groups = this.#groups
    this.#push(frame.group, group, groups[group * 2] as number, groups[group * 2 + 1] as number)
    groups[group * 2] = start
    groups[group * 2 + 1] = this.#at
  }

  #read(test: CodePointTest): boolean {
    const text = this.#text
    const at = this.#at
    if (at >= text.length) return false
    const codePoint = text.codePointAt(at) as number
    if (!test.has(codePoint)) return false
    this.#at = at + (codePoint > 0xffff ? 2 : 1)
    return true
  }

  #readLiteral(codePoint: number): boolean {
    if (this.#text.codePointAt(this.#at) !== codePoint) return false
    this.#at += codePoint > 0xffff ? 2 : 1
    return true
  }

  /** Returns the number of read characters. */
  #readUpTo(test: CodePointTest, most: number): number {
    let count = 0
    while (count < most && this.#read(test)) count++
    this.#countSteps(count)
    return count
  }

  #readRun(instruction: Instruction, counter: number): number {
    const { least, most } = instruction
    const test = instruction.test as CodePointTest
    if (least > 0 && this.#readUpTo(test, least) < least) return -1
    if (instruction.reluctant) {
      if (most > least)
        this.#push(frame.moreOfRun, counter, this.#at, Math.min(most - least, this.#text.length))
      return counter + 1
    }
    const shortest = this.#at
    this.#readUpTo(test, most - least)
    if (!instruction.possessive && this.#at > shortest) {
      this.#push(frame.run, counter, shortest, this.#at)
    }
    return counter + 1
  }

  /** Shortens a greedy run by one character. Returns the index of the instruction after the run. */
  #shortenRun(counter: number, shortest: number, end: number): number {
    this.#countSteps(1)
    this.#at = end - (end - shortest > 1 && isPairAt(this.#text, end - 2) ? 2 : 1)
    if (this.#at > shortest) this.#push(frame.run, counter, shortest, this.#at)
    return counter + 1
  }

  /** Lengthens a reluctant run by one character. Returns false if the next character does not pass the test. */
  #lengthenRun(counter: number, at: number, left: number): boolean {
    this.#at = at
    if (!this.#read((this.#instructions[counter] as Instruction).test as CodePointTest)) return false
    if (left > 1) this.#push(frame.moreOfRun, counter, this.#at, left - 1)
    return true
  }

  #loop(instruction: Instruction, counter: number): number {
    const { b: begin, group, least, most, isDeterministic } = instruction
    const start = this.#registers[begin] as number
    const done = this.#registers[instruction.a] as number
    const empty = this.#at === start
    if (group > 0 && (done <= least || !empty)) this.#capture(group, start)
    // Otherwise, a loop without progress could be endless. As in Java, a loop whose body can match in only one way
    // first completes the required iterations.
    if (empty && (!isDeterministic || done > least)) return counter + 1
    if (done < least) return this.#beginIteration(instruction)
    if (done >= most) return counter + 1
    if (instruction.reluctant) {
      this.#push(frame.moreOfLoop, counter, this.#at, 0)
      return counter + 1
    }
    this.#push(frame.choice, counter + 1, this.#at, 0)
    return this.#beginIteration(instruction)
  }

  #beginIteration({ a, target }: Instruction): number {
    this.#set(a, (this.#registers[a] as number) + 1)
    return target
  }

  #goBack({ least, most }: Instruction, counter: number): number {
    let start = this.#at
    for (let left = least; left > 0; left--) {
      if (start === 0) return -1
      start = this.#before(start)
    }
    this.#countSteps(Math.min(least, this.#text.length))
    if (most > least) {
      this.#push(frame.back, counter, start, Math.min(most - least, this.#text.length))
    }
    this.#at = start
    return counter + 1
  }

  #moveFartherBack(counter: number, start: number, left: number): boolean {
    if (start === 0) return false
    this.#at = this.#before(start)
    if (left > 1) this.#push(frame.back, counter, this.#at, left - 1)
    return true
  }

  /** The start of the character before `at`. */
  #before(at: number): number {
    return at - (at > 1 && isPairAt(this.#text, at - 2) ? 2 : 1)
  }

  /** Reads the text of a group again. Returns false if the group has not matched or does not exist. */
  #readGroup({ a: group, folding }: Instruction): boolean {
    const start = this.#groups[group * 2]
    const end = this.#groups[group * 2 + 1]
    if (start === undefined || end === undefined || start < 0) return false
    const text = this.#text
    const length = end - start
    if (this.#at + length > text.length) return false
    this.#countSteps(length >> 3)
    if (folding === 'none') {
      if (!text.startsWith(text.slice(start, end), this.#at)) return false
    } else if (!this.#equalsFolded(start, length, folding === 'unicode')) return false
    this.#at += length
    return true
  }

  #equalsFolded(start: number, length: number, unicode: boolean): boolean {
    this.#countSteps(length)
    const text = this.#text
    for (let offset = 0; offset < length; offset++) {
      const left = text.codePointAt(start + offset) as number
      const right = text.codePointAt(this.#at + offset) as number
      if (!equalsInEitherCase(left, right, unicode)) return false
      if (left > 0xffff) offset++
    }
    return true
  }
}
