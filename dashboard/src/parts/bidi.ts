// Bidirectional text in the editor. By default, right-to-left text reorders the brackets and names around it, and
// direction control characters are invisible, so the visible code could differ from the stored code. The editor
// therefore isolates quoted text from the code around it, and shows control characters.

import { type Extension, Prec, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  Direction,
  EditorView,
  highlightSpecialChars,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'

const isolated = Decoration.mark({ class: 'cm-isolated', bidiIsolate: Direction.LTR })

/** Also matches direction control characters. */
const rightToLeft =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** Matches quoted text within one line. */
const quotedText = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\\n]|\\.)*`?/g

function isolatedTexts({ state, visibleRanges }: EditorView): DecorationSet {
  const found = new RangeSetBuilder<Decoration>()
  for (const { from, to } of visibleRanges) {
    const start = state.doc.lineAt(from).from
    const text = state.sliceDoc(start, to)
    if (!rightToLeft.test(text)) continue
    for (const { 0: part, index } of text.matchAll(quotedText)) {
      if (rightToLeft.test(part)) found.add(start + index, start + index + part.length, isolated)
    }
  }
  return found.finish()
}

const isolation = ViewPlugin.fromClass(
  class {
    texts: DecorationSet

    constructor(view: EditorView) {
      this.texts = isolatedTexts(view)
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.texts = isolatedTexts(update.view)
    }
  },
  {
    provide: plugin => {
      const texts = (view: EditorView) => view.plugin(plugin)?.texts ?? Decoration.none
      return [EditorView.decorations.of(texts), Prec.lowest(EditorView.bidiIsolatedRanges.of(texts))]
    },
  },
)

/** Shows code in its stored order, even if quoted texts contain right-to-left letters. */
export const bidiSafety: Extension = [
  // CodeMirror shows the other control characters by default.
  highlightSpecialChars({ addSpecialChars: /[\u202a-\u202c\u2068]/g }),
  isolation,
  EditorView.theme({
    '.cm-isolated': { direction: 'ltr', unicodeBidi: 'isolate' },
    '.cm-specialChar': { color: 'var(--danger)' },
  }),
]
