// Checks the FQL texts in definitions. Each failure has the path of the field that contains the text.

import { catchError } from '../../base/catch-error.ts'
import type { FieldPath } from '../../model/failure.ts'
import type { Value } from '../../values/value.ts'
import { type ConstraintFailure, QueryFailure } from '../failure/query-failure.ts'
import { renderInMessage } from '../failure/summary.ts'
import { parseSignature } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'

export function constraintFailureAt(path: FieldPath, message: string): ConstraintFailure {
  return { paths: [path], message }
}

/** The first line of messages for syntax errors in code. */
export const unparsable = 'Unable to parse FQL source code.'

/** Converts the error of a parse function to a failure at a path. `separator` separates the rendered diagnostics. */
export function parseFailures(
  path: FieldPath,
  title: string,
  separator: '\n' | '\n\n',
  parse: () => void,
): readonly ConstraintFailure[] {
  const parsed = () => {
    parse()
    return []
  }
  return catchError(QueryFailure, parsed, ({ diagnostics }) => [
    constraintFailureAt(path, `${title}\n${renderInMessage(diagnostics, separator)}`),
  ])
}

/** Returns no failures if `text` is not a string. `name`: the name of the text in the positions of the errors. */
export function signatureFailures(
  text: Value | undefined,
  path: FieldPath,
  separator: '\n' | '\n\n',
  name = '*signature*',
): readonly ConstraintFailure[] {
  if (typeof text !== 'string') return []
  return parseFailures(path, 'Failed parsing user-provided signature.', separator, () => {
    parseSignature(new Source(name, text))
  })
}
