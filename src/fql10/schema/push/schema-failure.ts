// Why a request about schema files is refused.

import { limits } from '../../../base/limits.ts'
import { type Message, messageOf, msg, own } from '../../../base/message.ts'
import { LanguageError } from '../../../model/failure.ts'
import type { Fault } from '../../../model/language.ts'
import type { Diagnostic, QueryFailure } from '../../failure/failure.ts'
import { positionOf } from '../../failure/fault.ts'
import { summaryOf } from '../../failure/summary.ts'

/** Thrown where a request is refused; nothing of what it has written stays. */
export class SchemaFailure extends LanguageError {
  override name = 'SchemaFailure'
  readonly status: 400 | 403 | 404 | 405 | 409
  /** For the query log. */
  readonly fault: Fault

  /** `about`: what the message draws, if it draws anything. */
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

/** The refusal of files: every fault with its place, and what has none; of very many, the first. */
export function refusedFiles(faults: readonly (Diagnostic | string)[]): SchemaFailure {
  const drawn: string[] = []
  let units = 0
  for (const fault of faults.slice(0, limits.gatheredErrorsMax)) {
    const text = typeof fault === 'string' ? fault : summaryOf([fault])
    units += text.length
    // Each shows its lines, which may be long.
    if (drawn.length > 0 && units > limits.v10SummaryUnitsMax) break
    drawn.push(text)
  }
  const [first] = faults
  return new SchemaFailure(400, drawn.join('\n'), typeof first === 'string' ? undefined : first)
}

/** What a write was refused with; a schema that does not hold together with the place of the item that was written. */
export function refusedWrite(failure: QueryFailure): SchemaFailure {
  const [first] = failure.diagnostics
  if (failure.code !== 'invalid_schema' || first?.span === undefined)
    return new SchemaFailure(400, first?.message ?? failure.template)
  return new SchemaFailure(400, summaryOf([first]).slice(`${first.name}: `.length), first)
}

/** What is not there: an unknown path, file or item. */
export function notFound(): SchemaFailure {
  return new SchemaFailure(404, msg`Not found`)
}
