// The effects that code may have on the data, and the places that limit them.

/** The strongest effect that a function or a piece of code may have. */
export type Effect = 'pure' | 'read' | 'write'

/** A place of evaluation that limits effects. */
export type EffectPlace =
  | 'get requests'
  | 'stream requests'
  | 'auth predicates'
  | 'index bindings'
  | 'default values'
  | 'check constraints'

const order: Readonly<Record<Effect, number>> = { pure: 0, read: 1, write: 2 }

/** Returns whether an effect is stronger than a limit allows. */
export function exceeds(effect: Effect, limit: Effect): boolean {
  return order[effect] > order[limit]
}
