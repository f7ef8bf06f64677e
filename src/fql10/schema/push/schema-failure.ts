// Errors of requests to the schema endpoints.

import { limits } from '../../../base/limits.ts'
import { type Message, messageOf, msg, own } from '../../../base/message.ts'
import { LanguageError } from '../../../model/failure.ts'
import type { Fault } from '../../../model/language.ts'
import { positionOf } from '../../failure/fault.ts'
import type { Diagnostic, QueryFailure } from '../../failure/query-failure.ts'
import { summaryOf } from '../../failure/summary.ts'

/** Thrown to reject a request. All its writes are discarded. */
export class SchemaFailure extends LanguageError {
  override name = 'SchemaFailure'
  readonly status: 400 | 403 | 404 | 405 | 409
  /** The fault for the query log. */
  readonly fault: Fault

  /** `about` is the diagnostic that the message shows, if any. */
  constructor(status: SchemaFailure['status'], message: string | Message, about?: Diagnostic) {
    super(String(message))
    this.fault = {
      code: '',
      text: about ? msg`${own(about.name)}: ${messageOf(about.message)}` : messageOf(message),
      position: positionOf(about?.span),
    }
    this.status = status
  }

  get aborted(): undefined {
    return undefined
  }
}

/**
 * The failure of invalid files, with all faults and their positions. Only the first ones are shown if there are too
 * many.
 */
export function invalidFiles(faults: readonly (Diagnostic | string)[]): SchemaFailure {
  const drawn: string[] = []
  let units = 0
  for (const fault of faults.slice(0, limits.gatheredErrorsMax)) {
    const text = typeof fault === 'string' ? fault : summaryOf([fault])
    units += text.length
    // A fault contains source lines, which may be long.
    if (drawn.length > 0 && units > limits.v10SummaryUnitsMax) break
    drawn.push(text)
  }
  const [first] = faults
  return new SchemaFailure(400, drawn.join('\n'), typeof first === 'string' ? undefined : first)
}

/**
 * Converts the failure of a write. For an inconsistent schema, the message contains the position of the written item.
 */
export function failedWrite(failure: QueryFailure): SchemaFailure {
  const [first] = failure.diagnostics
  if (failure.code !== 'invalid_schema' || first?.span === undefined)
    return new SchemaFailure(400, first?.message ?? failure.template)
  return new SchemaFailure(400, summaryOf([first]).slice(`${first.name}: `.length), first)
}

/** The failure for an unknown path, file or item. */
export function notFound(): SchemaFailure {
  return new SchemaFailure(404, msg`Not found`)
}
