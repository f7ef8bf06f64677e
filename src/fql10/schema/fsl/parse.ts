// From the text of a schema file to its items, or to everything that is wrong with it.

import type { Diagnostic } from '../../failure/failure.ts'
import type { Node } from '../../syntax/nodes.ts'
import { parseQuery, readWhole } from '../../syntax/parse.ts'
import type { Source } from '../../syntax/source.ts'
import { convert } from './convert.ts'
import type { SchemaFile } from './nodes.ts'
import { OutlineParser } from './outline-parser.ts'

/** A file that was read, with what is wrong with it: without faults its items are all there. */
export interface ParsedFile {
  readonly file: SchemaFile
  readonly faults: readonly Diagnostic[]
}

/** The expression that a text is, as a file has it: without the block that is around a query. Throws QueryFailures. */
export function parseExpression(source: Source): Node {
  const { body } = parseQuery(source, [])
  const [only, ...others] = body.kind === 'block' ? body.statements : []
  return only !== undefined && others.length === 0 && only.kind !== 'let' ? only : body
}

/** Reads a file; the source's name is that of the file. What is wrong is returned, never thrown. */
export function parseFsl(source: Source): ParsedFile {
  const parser = new OutlineParser(source)
  const { faults, result } = readWhole(parser, () => parser.file())
  if (result === undefined || faults.length > 0) return { file: { source, items: [] }, faults }
  const converted = convert(source, result)
  return { file: { source, items: converted.items }, faults: converted.faults }
}
