// What code may do to the data, and where it may do less.

/** The most that a function or a piece of code may do. */
export type Effect = 'pure' | 'read' | 'write'

/** Where evaluation happens, when that forbids effects. */
export type EffectPlace =
  | 'get requests'
  | 'stream requests'
  | 'auth predicates'
  | 'index bindings'
  | 'default values'
  | 'check constraints'

const order: Readonly<Record<Effect, number>> = { pure: 0, read: 1, write: 2 }

/** Whether an effect is more than a limit allows. */
export function exceeds(effect: Effect, limit: Effect): boolean {
  return order[effect] > order[limit]
}
