// Hides the middle of very long lines in the editor, because the browser needs seconds to lay out a line of some
// megabytes. The text itself stays complete.

import { type EditorState, type Extension, RangeSetBuilder, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'

/** Longer lines are shown in part. */
const lineCharsMax = 20_000
/** Number of characters at each end of a longer line that the editor shows. */
const shownChars = 2_000

class HiddenMiddle extends WidgetType {
  readonly #chars: number

  constructor(chars: number) {
    super()
    this.#chars = chars
  }

  override eq(other: HiddenMiddle): boolean {
    return other.#chars === this.#chars
  }

  toDOM(): HTMLElement {
    const element = document.createElement('span')
    element.className = 'cm-hidden-middle'
    element.textContent = ` … ${this.#chars.toLocaleString('en')} characters are not shown … `
    return element
  }
}

function hiddenMiddles({ doc }: EditorState): DecorationSet {
  if (doc.length <= lineCharsMax) return Decoration.none
  const hidden = new RangeSetBuilder<Decoration>()
  let from = 0
  for (const line of doc.iterLines()) {
    if (line.length > lineCharsMax) {
      const widget = new HiddenMiddle(line.length - 2 * shownChars)
      hidden.add(from + shownChars, from + line.length - shownChars, Decoration.replace({ widget }))
    }
    from += line.length + 1
  }
  return hidden.finish()
}

const field = StateField.define<DecorationSet>({
  create: hiddenMiddles,
  update: (hidden, transaction) => (transaction.docChanged ? hiddenMiddles(transaction.state) : hidden),
  provide: own => [
    EditorView.decorations.from(own),
    // The cursor moves across the hidden middle as across one character.
    EditorView.atomicRanges.of(view => view.state.field(own)),
  ],
})

export const longLines: Extension = [
  field,
  EditorView.theme({ '.cm-hidden-middle': { color: 'var(--soft)', fontStyle: 'italic' } }),
]
