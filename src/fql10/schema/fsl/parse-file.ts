// Parses schema files.

import type { Diagnostic } from '../../failure/query-failure.ts'
import type { Node } from '../../syntax/nodes.ts'
import { parseQuery, readWhole } from '../../syntax/parse-query.ts'
import type { Source } from '../../syntax/source.ts'
import { convert } from './convert.ts'
import { OutlineParser } from './outline-parser.ts'
import type { SchemaFile } from './schema-items.ts'

/** A parsed file with its faults. Without faults, the items are complete. */
export interface ParsedFile {
  readonly file: SchemaFile
  readonly faults: readonly Diagnostic[]
}

/** Parses an expression, and removes the block around a single expression. Throws a QueryFailure. */
export function parseExpression(source: Source): Node {
  const { body } = parseQuery(source, [])
  const [only, ...others] = body.kind === 'block' ? body.statements : []
  return only !== undefined && others.length === 0 && only.kind !== 'let' ? only : body
}

/** Parses a file. The name of its source is the name of the file. Faults are returned, never thrown. */
export function parseFsl(source: Source): ParsedFile {
  const parser = new OutlineParser(source)
  const { faults, result } = readWhole(parser, () => parser.file())
  if (result === undefined || faults.length > 0) return { file: { source, items: [] }, faults }
  const converted = convert(source, result)
  return { file: { source, items: converted.items }, faults: converted.faults }
}
