// Names for answers that must not depend on ids: a replayed evaluation draws new ids, but does the same things in
// the same order. So an answer is named by what is asked and by the how-manieth time it is asked.

import type { Transaction } from '../store/contract.ts'

const counts = new WeakMap<Transaction, Map<string, number>>()

/** How often this run of the transaction has asked for `subject` before. */
export function occurrences(transaction: Transaction, subject: string): number {
  let seen = counts.get(transaction)
  if (!seen) {
    seen = new Map()
    counts.set(transaction, seen)
  }
  const number = seen.get(subject) ?? 0
  seen.set(subject, number + 1)
  return number
}

/** `subject` with its number among the equal subjects of this run of the transaction: `subject#0`, `subject#1` … */
export function occurrence(transaction: Transaction, subject: string): string {
  return `${subject}#${occurrences(transaction, subject)}`
}
