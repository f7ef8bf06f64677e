// What an engine is made of: the layers below, and what the layers above hand in.

import type { Allowances } from '../base/allowance.ts'
import type { MemoryBound } from '../base/memory-bound.ts'
import type { Timers } from '../base/timers.ts'
import type { Identifier } from '../model/auth/credential.ts'
import type { Languages } from '../model/language.ts'
import type { SessionHost } from '../model/session.ts'
import type { Store } from '../storage/store/store.ts'
import type { RateLimits } from './rate-limits.ts'
import type { SlowLane } from './slow-lane.ts'
import type { StreamOpener } from './stream-opener.ts'

export interface EngineOptions {
  readonly store: Store
  /** Finds out who a credential belongs to. */
  readonly identifier: Pick<Identifier, 'identify'>
  readonly host: SessionHost
  /** What requests can be written in. */
  readonly languages: Languages
  /** Absent: databases may use what they like. */
  readonly rateLimits?: RateLimits
  /** Of a store that several machines share: how often, for each address, it is asked whether an unknown secret is new. */
  readonly secretLooks?: Allowances<string>
  readonly streams: StreamOpener
  readonly timers: Timers
  /** Takes over what takes long; absent: everything is evaluated here. */
  readonly slowLane?: SlowLane | undefined
  /** Bounds what all queries under way hold. */
  readonly memory?: MemoryBound
  /** This engine is one of the slow lane: commits are left to the service. */
  readonly neverCommits?: boolean
  /** Called as often as the clock is looked at; ends the evaluation by throwing a RequestError. */
  readonly onCheck?: () => void
  /** Told of broken invariants and other bugs, with the request that met them. */
  readonly onInternalError: (error: unknown) => void
}
