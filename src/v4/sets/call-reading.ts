// One reading of a set by one call, at which its errors stand.

import { Reading } from '../../model/sets/reading.ts'
import type { Call } from '../definition.ts'

/** A {@link Reading} that knows the call which reads. */
export class CallReading extends Reading {
  readonly call: Call

  constructor(
    call: Call,
    ...reading: ConstructorParameters<typeof Reading> extends [unknown, ...infer R] ? R : never
  ) {
    super(call.session, ...reading)
    this.call = call
  }

  /** Begins a reading at the time that the call looks at. */
  static of(call: Call, hidden: Reading['hidden'] = 'left out'): CallReading {
    return new CallReading(call, call.session.validTime, hidden)
  }

  override lookingAt(at: number | undefined): CallReading {
    return new CallReading(this.call, at, this.hidden, ...this.counts)
  }
}
