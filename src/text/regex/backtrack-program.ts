// Compiles patterns to programs for the backtracking engine. After an instruction, the search continues with the next
// instruction or at the instruction's target. The compiler follows java.util.regex in two decisions: which parts of a
// pattern can match in only one way, and when the text of a group is stored. These decisions affect the captured groups
// when backtracking shortens a repetition.

import { CodePointTest } from './code-point-test.ts'
import type { Anchor, CaseFolding, ClassNode, LookNode, PatternNode, RepeatNode } from './pattern-tree.ts'

/** Operation codes. The "position" is the current offset of the search in the text. */
export const op = {
  /** Ends the program with a match. */
  match: 0,
  /** Reads a character that passes `test`. */
  character: 1,
  /** Reads `least` to `most` characters that pass `test`. */
  run: 2,
  jump: 3,
  /** Continues with the next instruction, and saves `target` as the alternative for backtracking. */
  split: 4,
  /** Stores the position in register `a`. */
  mark: 5,
  /** Stores the text of group `a`, from the offset in register `b` to the position. */
  capture: 6,
  /** Sets the iteration count in register `a` to 1. */
  count: 7,
  /**
   * Ends an iteration of a loop. The body of the loop begins at `target`. Register `a` contains the number of iterations,
   * and register `b` the start of this iteration. If `group` is greater than 0, the group gets the text of the iteration.
   */
  loop: 8,
  /** Removes alternatives until the stack has the height in register `a`, stored by `enter`. */
  commit: 9,
  /** Stores the height of the stack of alternatives in register `a`, and the position in register `b`. */
  enter: 10,
  /** Sets the position to the value of register `b`. */
  restore: 11,
  /** Moves the position back by `least` to `most` characters, and tries the fewest characters first. */
  back: 12,
  /** Succeeds if the position is equal to register `b`. */
  arrive: 13,
  fail: 14,
  anchor: 15,
  /** Reads a text that is equal to the text of group `a`. */
  reference: 16,
  /** Reads the character `a`. */
  literal: 17,
} as const

/** Unused fields have default values: the same fields in the same order make the search faster. */
export interface Instruction {
  readonly op: number
  target: number
  readonly a: number
  readonly b: number
  readonly group: number
  /** The body of the loop can match in only one way. */
  readonly isDeterministic: boolean
  readonly least: number
  readonly most: number
  readonly reluctant: boolean
  readonly possessive: boolean
  readonly test: CodePointTest | undefined
  readonly anchor: Anchor
  readonly folding: CaseFolding
}

export interface BacktrackProgram {
  readonly instructions: readonly Instruction[]
  readonly registers: number
  readonly groupCount: number
}

/** The program has a few instructions for each character of the pattern. */
export function backtrackProgram(root: PatternNode, groupCount: number): BacktrackProgram {
  const compiler = new Compiler()
  compiler.add(root)
  compiler.emit(op.match)
  return { instructions: compiler.instructions, registers: compiler.registers, groupCount }
}

const plain: Instruction = {
  op: op.match,
  target: 0,
  a: 0,
  b: 0,
  group: 0,
  isDeterministic: false,
  least: 0,
  most: 0,
  reluctant: false,
  possessive: false,
  test: undefined,
  anchor: 'textStart',
  folding: 'none',
}

const terminator = new CodePointTest({ set: [0x0a, 0x0d, 0x85, 0x85, 0x2028, 0x2029], negated: false }, false)

class Compiler {
  readonly instructions: Instruction[] = []
  registers = 0

  emit(code: number, fields: Partial<Instruction> = {}): Instruction {
    const instruction = { ...plain, ...fields, op: code }
    this.instructions.push(instruction)
    return instruction
  }

  get #here(): number {
    return this.instructions.length
  }

  add(node: PatternNode): void {
    switch (node.kind) {
      case 'class':
        this.#character(node)
        return
      case 'sequence':
        for (const part of node.parts) this.add(part)
        return
      case 'alternatives':
        this.#alternatives(node.branches)
        return
      case 'group':
        if (node.number === undefined) this.add(node.body)
        else this.#capture(node.number, this.registers++, node.body)
        return
      case 'repeat':
        this.#repeat(node)
        return
      case 'look':
        this.#look(node)
        return
      case 'atomic':
        this.#atomic(() => this.add(node.body))
        return
      case 'anchor':
        this.emit(op.anchor, { anchor: node.anchor })
        return
      case 'backReference':
        this.emit(op.reference, { a: node.group, folding: node.folding })
        return
      case 'lineBreak':
        this.#lineBreak()
    }
  }

  #character({ foldsUnicode, members }: ClassNode): void {
    const [first, last] = members.set
    if (members.set.length === 2 && first === last && !members.negated && !foldsUnicode) {
      this.emit(op.literal, { a: first as number })
    } else this.emit(op.character, { test: new CodePointTest(members, foldsUnicode) })
  }

  #alternatives(branches: readonly PatternNode[]): void {
    const jumps: Instruction[] = []
    branches.forEach((branch, index) => {
      const last = index === branches.length - 1
      const split = last ? undefined : this.emit(op.split)
      this.add(branch)
      if (!split) return
      jumps.push(this.emit(op.jump))
      split.target = this.#here
    })
    for (const jump of jumps) jump.target = this.#here
  }

  #lineBreak(): void {
    const split = this.emit(op.split)
    this.emit(op.literal, { a: 0x0d })
    this.emit(op.literal, { a: 0x0a })
    const jump = this.emit(op.jump)
    split.target = this.#here
    this.emit(op.character, { test: terminator })
    jump.target = this.#here
  }

  #capture(number: number, register: number, body: PatternNode): void {
    this.emit(op.mark, { a: register })
    this.add(body)
    this.emit(op.capture, { a: number, b: register })
  }

  #atomic(body: () => void): void {
    const height = this.registers++
    this.emit(op.enter, { a: height, b: this.registers++ })
    body()
    this.emit(op.commit, { a: height })
  }

  #look({ behind, body, negative }: LookNode): void {
    const height = this.registers++
    const position = this.registers++
    this.emit(op.enter, { a: height, b: position })
    const otherwise = negative ? this.emit(op.split) : undefined
    if (behind) {
      const [least, most] = width(body)
      this.emit(op.back, { least, most })
    }
    this.add(body)
    if (behind) this.emit(op.arrive, { b: position })
    this.emit(op.commit, { a: height })
    if (!otherwise) this.emit(op.restore, { b: position })
    else {
      this.emit(op.fail)
      otherwise.target = this.#here
    }
  }

  #repeat(node: RepeatNode): void {
    const { body, least, manner, most } = node
    const reluctant = manner === 'reluctant'
    const possessive = manner === 'possessive'
    if (body.kind === 'class') {
      const test = new CodePointTest(body.members, body.foldsUnicode)
      this.emit(op.run, { test, least, most, reluctant, possessive })
    } else if (most === 0) return
    else if (possessive) this.#atomic(() => this.#loop(node, () => this.#atomic(() => this.add(body)), 0))
    else if (body.kind !== 'group') this.#loop(node, () => this.#atomic(() => this.add(body)), 0)
    else if (least === 0 && most === 1) this.#optional(body, reluctant)
    else if (hasOneWay(body.body)) {
      this.#loop(node, () => this.#atomic(() => this.add(body.body)), body.number ?? 0)
    } else this.#loop(node, () => this.add(body))
  }

  #optional(body: PatternNode, reluctant: boolean): void {
    const split = this.emit(op.split)
    const leave = reluctant ? this.emit(op.jump) : undefined
    if (reluctant) split.target = this.#here
    this.add(body)
    const skipping = leave ?? split
    skipping.target = this.#here
  }

  /**
   * `group` is undefined if the body can match in several ways. If it can match in only one way, or if an atomic group
   * permits only its first match, `group` is the capturing group that the loop stores, or 0 if the loop stores none.
   */
  #loop({ least, manner, most }: RepeatNode, body: () => void, group?: number): void {
    const reluctant = manner === 'reluctant'
    const count = this.registers++
    const begin = this.registers++
    this.emit(op.count, { a: count })
    // A reluctant loop first tries to skip the body.
    const skip = least === 0 ? this.emit(op.split) : undefined
    const leave = skip && reluctant ? this.emit(op.jump) : undefined
    if (skip && reluctant) skip.target = this.#here
    const target = this.#here
    this.emit(op.mark, { a: begin })
    body()
    const isDeterministic = group !== undefined
    this.emit(op.loop, {
      target,
      a: count,
      b: begin,
      group: group ?? 0,
      isDeterministic,
      least,
      most,
      reluctant,
    })
    if (leave) leave.target = this.#here
    else if (skip) skip.target = this.#here
  }
}

/** Returns whether a node can match in only one way at each position, by Java's criteria. */
function hasOneWay(node: PatternNode): boolean {
  switch (node.kind) {
    case 'alternatives':
      return false
    case 'sequence':
      return node.parts.every(hasOneWay)
    case 'group':
    case 'atomic':
      return hasOneWay(node.body)
    case 'repeat':
      return node.least === node.most && hasOneWay(node.body)
    default:
      return true
  }
}

/** Returns the width in characters. */
function width(node: PatternNode): readonly [least: number, most: number] {
  switch (node.kind) {
    case 'class':
      return [1, 1]
    case 'lineBreak':
      return [1, 2]
    case 'sequence': {
      const parts = node.parts.map(width)
      return [sum(parts.map(([least]) => least)), sum(parts.map(([, most]) => most))]
    }
    case 'alternatives': {
      const branches = node.branches.map(width)
      return [Math.min(...branches.map(([least]) => least)), Math.max(...branches.map(([, most]) => most))]
    }
    case 'group':
    case 'atomic':
      return width(node.body)
    case 'repeat': {
      const [least, most] = width(node.body)
      // Zero times infinity would be NaN.
      return [least * node.least, most === 0 || node.most === 0 ? 0 : most * node.most]
    }
    case 'backReference':
      return [0, Number.POSITIVE_INFINITY]
    case 'look':
    case 'anchor':
      return [0, 0]
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
