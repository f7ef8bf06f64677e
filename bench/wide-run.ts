// The interface between the case `wide` and its kinds of large things, and helpers for the kinds.

import type { ServerProcess } from '../tests/support/server-process.ts'

/** A kind of large things. */
export interface WideKind {
  readonly name: string
  run(run: WideRun): Promise<void>
}

/** The work of a step. Returns a remark about the response. */
export type StepWork = (n: number) => Promise<string | undefined>

/** The service and the measurements for a kind. */
export interface WideRun {
  readonly server: ServerProcess
  /** The secret of an admin key. */
  readonly secret: string
  /** The number of versions of a document, and half of the number of entries with equal terms. */
  readonly scale: number
  /** Runs a query of version 4 that must succeed. */
  text(expression: string): Promise<unknown>
  /** Measures a query of version 4, which may depend on the number of its repetition. */
  query(name: string, expression: (n: number) => string, options?: StepOptions): Promise<void>
  /** Measures a query of version 10. */
  fql(name: string, expression: (n: number) => string, options?: FqlOptions): Promise<void>
  step(name: string, work: StepWork, options?: StepOptions): Promise<void>
  /**
   * Measures work on `items` items until `done` resolves, and prints its rate. `done` may resolve with the milliseconds
   * at the end in which the service was idle.
   */
  background(name: string, items: number, done: () => Promise<unknown>): Promise<void>
  /** Prints the private memory of all processes. */
  memory(when: string): void
}

export interface StepOptions {
  /** The step runs only once, because a repetition would do something else. */
  readonly isOnce?: boolean
  readonly secret?: string
}

export interface FqlOptions extends StepOptions {
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export function wait(ms: number): Promise<undefined> {
  return new Promise(resolve => setTimeout(resolve, ms, undefined))
}

/**
 * Evaluates `expression`, which uses `Var("n")`, for the numbers from `from` to before `to`, `step` numbers per query.
 */
export async function forEach(
  run: Pick<WideRun, 'text'>,
  [from, to]: readonly [number, number],
  step: number,
  expression: string,
): Promise<void> {
  for (let at = from; at < to; at += step) {
    const numbers = Array.from({ length: Math.min(step, to - at) }, (_, n) => at + n)
    await run.text(`Foreach([${numbers.join(',')}], Lambda("n", ${expression}))`)
  }
}

export const one = 'Ref(Collection("c"), "1")'
export const data = (fields: string) => `{data: {${fields}}}`
