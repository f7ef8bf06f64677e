// Compares a client that guesses passwords with the owner of the password: only the guesser waits between its checks.

import assert from 'node:assert/strict'

const ownerChecks = 10
/**
 * While the owner makes its checks, the guesser makes about two. If both waited in one queue, the guesser would make as
 * many as the owner. A busy machine delays both, so the guesser may come closer to the owner.
 */
const guessesMax = 7

/** `guess` and `check` send one request each, and resolve with the response. The guesser must have failed before. */
export async function assertOnlyGuesserWaits(
  guess: () => Promise<unknown>,
  check: () => Promise<unknown>,
): Promise<void> {
  let guesses = 0
  let isOver = false
  const guessing = (async () => {
    for (; !isOver; guesses++) await guess()
  })()
  for (let count = 0; count < ownerChecks; count++) await check()
  isOver = true
  const before = guesses
  await guessing
  assert.ok(before <= guessesMax, `${before} guesses during ${ownerChecks} checks of the owner`)
}
