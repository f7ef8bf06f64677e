// Why a request about schema files is refused.

import { limits } from '../../limits.ts'
import { LanguageError } from '../../model/failure.ts'
import type { Diagnostic, QueryFailure } from '../failure/failure.ts'
import { summaryOf } from '../failure/summary.ts'

/** Thrown where a request is refused; nothing of what it has written stays. */
export class SchemaFailure extends LanguageError {
  override name = 'SchemaFailure'
  readonly status: 400 | 403 | 404 | 405 | 409

  constructor(status: SchemaFailure['status'], message: string) {
    super(message)
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
  return new SchemaFailure(400, drawn.join('\n'))
}

/** What a write was refused with; a schema that does not hold together with the place of the item that was written. */
export function refusedWrite(failure: QueryFailure): SchemaFailure {
  const [first] = failure.diagnostics
  if (failure.code !== 'invalid_schema' || first?.span === undefined)
    return new SchemaFailure(400, first?.message ?? failure.message)
  return new SchemaFailure(400, summaryOf([first]).slice(`${first.name}: `.length))
}

/** What is not there: an unknown path, file or item. */
export function notFound(): SchemaFailure {
  return new SchemaFailure(404, 'Not found')
}
