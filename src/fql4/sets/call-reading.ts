// A reading of a set by a call. The position of the call is used for errors.

import { Reading } from '../../model/sets/reading.ts'
import type { Call } from '../definition.ts'

/** A {@link Reading} with its call. */
export class CallReading extends Reading {
  readonly call: Call

  constructor(
    call: Call,
    ...reading: ConstructorParameters<typeof Reading> extends [unknown, ...infer R] ? R : never
  ) {
    super(call.session, ...reading)
    this.call = call
  }

  /** Begins a reading at the valid time of the call. */
  static of(call: Call, hidden: Reading['hidden'] = 'left out'): CallReading {
    return new CallReading(call, call.session.validTime, hidden)
  }

  override asOf(at: number | undefined): CallReading {
    return new CallReading(this.call, at, this.hidden, ...this.counts)
  }
}
