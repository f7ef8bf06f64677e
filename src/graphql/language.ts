// Combines the parts of GraphQL into the `Language` that the engine and the query log use. Operations are compiled to
// version 4, so rights, limits and costs are those of version 4.

import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { version4 } from '../fql4/language.ts'
import { fillTransactionTime } from '../fql4/wire/render.ts'
import { type Language, type LanguageRequest, requestFault } from '../model/language.ts'
import { errorsBody, OperationError, SchemaError } from './errors.ts'
import { readExplanation } from './explanation.ts'
import { GeneratedTextQuery, ImportQuery, SchemaTextQuery } from './import/import-query.ts'
import { OperationQuery, rememberDocument } from './operation/operation-query.ts'
import { readOperationRequest } from './operation/operation-request.ts'
import { isLanguageWord, shapeOf } from './shape.ts'
import { requestErrorBody, requestErrorText } from './wire/errors.ts'
import { generatedTextOptions, schemaTextOptions } from './wire/import-options.ts'

/** Returns whether a request concerns the text of the schema, so that its response is a plain text. */
function concernsSchema({ options }: LanguageRequest): boolean {
  return options?.kind !== undefined
}

export const graphql: Language = {
  parse({ body, options }) {
    if (options?.kind === schemaTextOptions.kind)
      return options?.of === generatedTextOptions.of ? new GeneratedTextQuery() : new SchemaTextQuery()
    if (options?.kind !== undefined) return new ImportQuery(body, options.mode ?? '')
    return new OperationQuery(readOperationRequest(body))
  },
  render: version4.render,
  complete: (body, request, { time }) => (concernsSchema(request) ? body : fillTransactionTime(body, time)),
  rejected(error, request) {
    const { message } = error
    if (error instanceof SchemaError) {
      const { fault, status } = error
      if (concernsSchema(request)) return { status, body: message, fault }
      return { status: 200, body: errorsBody([{ message }], true), fault }
    }
    if (!(error instanceof OperationError) || concernsSchema(request)) return { status: 400, body: message }
    return { status: 200, body: errorsBody(error.errors, error.isInvalid), fault: error.fault }
  },
  failed(error, request) {
    const { code, description, status } = error
    const body = concernsSchema(request)
      ? requestErrorText(code, description)
      : requestErrorBody(code, description)
    return { status, body, fault: requestFault(error) }
  },
  learn: rememberDocument,
  stackOverflow: () => OperationError.failed('stack overflow', msg`The operation is nested too deeply.`),
  parseExplanation: readExplanation,
  renderExplanation: version4.renderExplanation,
  describe: error =>
    error instanceof OperationError
      ? error.errors.map(({ message }) => new Map([['description', message]]))
      : version4.describe(error),
  streamOrder: () => {
    throw new RequestError('bad request', msg`GraphQL has no streams.`)
  },
  shape: shapeOf,
  isWord: isLanguageWord,
}
