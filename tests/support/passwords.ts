// Compares a client that guesses passwords with the owner of the password: only the guesser waits between its checks.

import { eventually } from './eventually.ts'

const ownerChecks = 10
/**
 * While the owner makes its checks, the guesser makes about two. If both waited in one queue, the guesser would make as
 * many as the owner in every comparison. A machine that delays only the owner spoils a single comparison.
 */
const guessesMax = 7

/** `guess` and `check` send one request each, and resolve with the response. The guesser must have failed before. */
export async function assertOnlyGuesserWaits(
  guess: () => Promise<unknown>,
  check: () => Promise<unknown>,
): Promise<void> {
  await eventually('the guesser makes fewer checks than the owner', async () => {
    let guesses = 0
    let isOver = false
    const guessing = (async () => {
      for (; !isOver; guesses++) await guess()
    })()
    for (let count = 0; count < ownerChecks; count++) await check()
    isOver = true
    const before = guesses
    await guessing
    return before <= guessesMax
  })
}
