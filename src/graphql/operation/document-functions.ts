// Functions that only compiled operations call. Each of them replaces several functions of version 4, because operations
// call them for each document.

import { anyValue, lambda, string } from '../../fql4/arguments.ts'
import { define, type FunctionDefinition } from '../../fql4/definition.ts'
import { applyLambda } from '../../fql4/evaluate.ts'
import { findDocument } from '../../model/read.ts'
import type { Session } from '../../model/session.ts'
import { viewDocument } from '../../model/view-document.ts'
import { DocumentValue, isObject, Ref, UnresolvedRef, type Value } from '../../values/value.ts'

function dereferenced(value: Value, session: Session): Value {
  if (value instanceof UnresolvedRef) return null
  if (!(value instanceof Ref)) return value
  const version = findDocument(value, session)
  return version === undefined ? null : viewDocument(version, session)
}

const definitions = [
  define({
    effect: 'read',
    arguments: { find_document: anyValue },
    result: 'Document',
    summary: 'Replaces a reference by its document, or by null if the caller cannot read the document.',
    example: ['{"find_document": null}', 'null'],
    evaluate: ({ find_document: value }, { session }) => dereferenced(value, session),
  }),
  define({
    effect: 'read',
    arguments: { read_document: anyValue, as: lambda },
    result: 'Any',
    summary: 'Applies a lambda to the document of a reference. Null stays null.',
    example: ['{"read_document": null, "as": {"lambda": "document", "expr": 1}}', 'null'],
    evaluate(args, call) {
      const document = dereferenced(args.read_document, call.session)
      return document === null ? null : applyLambda(args.as, document, call, 'as')
    },
  }),
  define({
    arguments: { document_field: anyValue, name: string },
    result: 'Any',
    summary: 'The field of a document or of an object in its place; null if there is none.',
    example: ['{"document_field": null, "name": "a"}', 'null'],
    evaluate({ document_field: document, name }) {
      const fields = document instanceof DocumentValue ? document.fields : document
      const data = isObject(fields) ? fields.get('data') : undefined
      return (isObject(data) ? data.get(name) : undefined) ?? null
    },
  }),
]

export const documentFunctions: ReadonlyMap<string, FunctionDefinition> = new Map(
  definitions.map(definition => [definition.keys.join(' '), { ...definition, family: 'GraphQL' }]),
)
