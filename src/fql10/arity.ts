// Describes how many arguments a function accepts.

import { type Message, msg, own } from '../base/message.ts'
import type { LambdaNode } from './syntax/nodes.ts'

/** `counts` is in ascending order. If `open` is true, the function also accepts any larger number of arguments. */
export interface Arity {
  readonly counts: readonly number[]
  readonly open: boolean
}

export function arityOfLambda({ parameters, rest }: LambdaNode): Arity {
  return { counts: [parameters.length], open: rest !== undefined }
}

export function acceptsCount({ counts, open }: Arity, count: number): boolean {
  return counts.includes(count) || (open && count > (counts.at(-1) ?? 0))
}

/** The text of an arity in messages, such as `1 or 2 arguments`. */
export function arityText({ counts, open }: Arity, noun: 'argument' | 'parameter'): string {
  const last = counts.at(-1) ?? 0
  const nouns = (count: number) => (count === 1 ? noun : `${noun}s`)
  if (open) return last === 0 ? `any number of ${noun}s` : `at least ${last} ${nouns(last)}`
  if (counts.length > 1) return `${counts.slice(0, -1).join(', ')} or ${last} ${noun}s`
  return last === 0 ? `no ${noun}s` : `exactly ${last} ${nouns(last)}`
}

/** The error message for a call with a number of arguments that `arity` does not allow. */
export function wrongCount(arity: Arity, count: number): Message {
  const expected = own(arityText(arity, 'argument'))
  return msg`callee function expects ${expected}, but ${own(count)} ${own(count === 1 ? 'was' : 'were')} provided.`
}
