// Renders the changes of a push plan in the format that a request asks for.

import type { SchemaRequest } from '../../wire/schema-request.ts'
import type { Coloring } from '../fsl/diff/drawing.ts'
import { semanticDiff, summaryDiff } from '../fsl/diff/schema-diff.ts'
import { textualDiff } from '../fsl/diff/textual.ts'
import type { FileText } from '../fsl/patch.ts'
import type { PushPlan } from './push-plan.ts'

/** The format of a difference: the changes of each item, the changed items, or the lines of the files. */
type DiffForm = 'semantic' | 'summary' | 'textual'

/** The format that a request asks for; undefined for an unknown or missing format. */
export function diffFormOf({ parameters: { diff, format } }: SchemaRequest): DiffForm | undefined {
  return formIn(format) ?? formIn(diff)
}

function formIn(text: string | undefined): DiffForm | undefined {
  if (text === 'true') return 'semantic'
  return text === 'semantic' || text === 'summary' || text === 'textual' ? text : undefined
}

/** The coloring that a request asks for. */
function coloringOf({ parameters }: SchemaRequest): Coloring {
  return parameters.color === 'ansi' ? 'ansi' : undefined
}

/** The text of a plan's changes; `''` without changes. */
export function diffText(
  { after, before, changes }: PushPlan,
  form: DiffForm,
  request: SchemaRequest,
): string {
  const coloring = coloringOf(request)
  if (form === 'textual') return textualDiff(textsOf(before), textsOf(after), coloring)
  return form === 'summary' ? summaryDiff(changes, coloring) : semanticDiff(changes, coloring)
}

function textsOf(files: readonly FileText[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ name, text }) => [name, text]))
}
