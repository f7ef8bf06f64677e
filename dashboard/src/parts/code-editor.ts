// Opens the text editor, which is based on CodeMirror 6: colours from the variables of the style sheet, completion, and
// error marks.

import {
  autocompletion,
  type Completion as Choice,
  type CompletionContext,
  closeBrackets,
  completionKeymap,
  insertCompletionText,
  pickedCompletion,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Notation } from '../language.ts'
import { bidiSafety } from './bidi.ts'
import { longLines } from './long-lines.ts'
import { driverNotation, schemaNotation, version10Notation } from './notations.ts'

/** Underlines a part of the text, in UTF-16 offsets. */
export interface Mark {
  readonly from: number
  readonly to: number
  readonly message: string
}

export interface Completion {
  readonly label: string
  readonly kind: 'function' | 'variable' | 'class' | 'property'
  /** Line of text beside the name. */
  readonly detail?: string
  /** A description that the editor shows on demand. */
  readonly info?: string
  /** The text that is inserted. The default is the label. */
  readonly text?: string
  /** `text` is an access in brackets: `a["b c"]` instead of `a.b c`. */
  readonly replacesDot?: boolean
  /**
   * The text that must precede the name: `.` for a member of any value, `Math.` for a member of this module, empty for
   * a name without a dot. If undefined, any text may precede it.
   */
  readonly after?: string
}

export interface CompletionsAt {
  readonly list: readonly Completion[]
  /** True if no other names fit the position. */
  readonly isComplete: boolean
}

export interface EditorProps {
  /** Accessible name of the editor. */
  readonly label: string
  readonly value: string
  readonly onChange?: (text: string) => void
  /** Ctrl-Enter, or Cmd-Enter. */
  readonly onSubmit?: () => void
  readonly notation: Notation | 'version 10' | 'schema file'
  readonly isReadOnly?: boolean
  readonly marks?: readonly Mark[]
  readonly completions?: readonly Completion[]
  /** Returns the completions for a name after the given text, which are listed before all others. */
  readonly completionsAt?: (before: string) => Promise<CompletionsAt>
  readonly hasFocus?: boolean
  readonly placeholder?: string
}

export interface CodeEditor {
  setText(text: string): void
  /** Applies another notation, label or `isReadOnly`. */
  configure(): void
  mark(marks: readonly Mark[]): void
  close(): void
}

/** Longer texts have no colouring and no bracket matching, because both would slow down typing. */
const plainFromChars = 2_000_000

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--field)', height: '100%', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--field)', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--line-active)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--selection) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8', fontStyle: 'normal' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--faint)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'transparent',
    border: '1px solid var(--line)',
    color: 'var(--soft)',
  },
})

const colours = HighlightStyle.define([
  { tag: [tags.string], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.propertyName], color: 'var(--code-name)' },
  { tag: [tags.function(tags.variableName), tags.className], color: 'var(--code-call)' },
  { tag: [tags.comment], color: 'var(--soft)' },
  { tag: [tags.keyword], color: 'var(--code-call)' },
])

const languages: Readonly<Record<EditorProps['notation'], () => Extension>> = {
  text: () => driverNotation,
  json,
  'version 10': () => version10Notation,
  'schema file': () => schemaNotation,
}

/** Opens an editor in a shadow root. Callbacks, completions and `configure` use the current `properties`. */
export function openEditor(root: ShadowRoot, properties: { readonly current: EditorProps }): CodeEditor {
  const changing = new Compartment()
  let isOwnChange = false
  /**
   * Texts that were passed to `onChange` and are not in `value` yet. If the user types fast, there are several texts.
   */
  const reported: string[] = []
  const report = (text: string) => {
    reported.push(text)
    properties.current.onChange?.(text)
  }
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: properties.current.value,
      extensions: [
        basics(properties),
        changing.of(changingParts(properties.current)),
        EditorView.updateListener.of(update => {
          if (update.docChanged && !isOwnChange) report(update.state.doc.toString())
        }),
      ],
    }),
  })
  if (properties.current.hasFocus) view.focus()
  const setMarks = (marks: readonly Mark[]) =>
    view.dispatch(setDiagnostics(view.state, diagnostics(view, marks)))
  setMarks(properties.current.marks ?? [])
  return {
    setText(text) {
      const echoed = reported.indexOf(text)
      if (echoed >= 0) {
        reported.splice(0, echoed + 1)
        return
      }
      reported.length = 0
      const { doc } = view.state
      if (doc.length === text.length && doc.toString() === text) return
      isOwnChange = true
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } })
      isOwnChange = false
    },
    configure: () => view.dispatch({ effects: changing.reconfigure(changingParts(properties.current)) }),
    mark: setMarks,
    close: () => view.destroy(),
  }
}

function diagnostics(view: EditorView, marks: readonly Mark[]): Diagnostic[] {
  const end = view.state.doc.length
  return marks.map(({ from, to, message }) => ({
    from: Math.min(from, end),
    to: Math.min(Math.max(to, from), end),
    severity: 'error',
    message,
  }))
}

/**
 * The browser's current selection, which the editor's own state may not contain yet; undefined if no text is selected.
 */
function selectedIn(view: EditorView): { readonly from: number; readonly to: number } | undefined {
  // Some browsers keep a selection for each shadow root. In others, the selection of the document includes selections
  // in shadow roots.
  const root = view.root as ShadowRoot & { getSelection?(): Selection | null }
  const selection = root.getSelection ? root.getSelection() : document.getSelection()
  const { anchorNode, focusNode } = selection ?? {}
  if (!selection || !anchorNode || !focusNode || selection.isCollapsed) return undefined
  if (!view.contentDOM.contains(anchorNode) || !view.contentDOM.contains(focusNode)) return undefined
  const anchor = view.posAtDOM(anchorNode, selection.anchorOffset)
  const focus = view.posAtDOM(focusNode, selection.focusOffset)
  return anchor === focus ? undefined : { from: Math.min(anchor, focus), to: Math.max(anchor, focus) }
}

/**
 * Replaces a selection with the typed text. By default, the browser would insert an element with an inline style, which
 * the content security policy blocks and reports.
 */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const text = event.data
  if (event.inputType !== 'insertText' || text === null || event.isComposing || view.state.readOnly)
    return false
  const selected = selectedIn(view)
  if (!selected) return false
  const { from, to } = selected
  event.preventDefault()
  const replacement = () =>
    view.state.update({
      changes: { from, to, insert: view.state.toText(text) },
      selection: { anchor: from + text.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    })
  const handlers = view.state.facet(EditorView.inputHandler)
  if (!handlers.some(handler => handler(view, from, to, text, replacement))) view.dispatch(replacement())
  return true
}

function basics(properties: { readonly current: EditorProps }): Extension {
  const submit = () => {
    properties.current.onSubmit?.()
    return true
  }
  return [
    keymap.of([
      { key: 'Mod-Enter', run: submit, preventDefault: true },
      ...completionKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...searchKeymap,
      ...foldKeymap,
    ]),
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    lintGutter(),
    EditorView.lineWrapping,
    longLines,
    bidiSafety,
    EditorView.domEventHandlers({ beforeinput: typeOver }),
    autocompletion({
      override: [
        context => complete(context, properties.current),
        context => completeAt(context, properties.current),
      ],
      icons: false,
    }),
    syntaxHighlighting(colours),
    theme,
    placeholder(properties.current.placeholder ?? ''),
  ]
}

function changingParts({ notation, isReadOnly, label, value }: EditorProps): Extension {
  return [
    value.length > plainFromChars ? [] : [languages[notation](), bracketMatching()],
    EditorState.readOnly.of(isReadOnly === true),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', 'aria-multiline': 'true' }),
  ]
}

/** Lists names, and members of modules. Other members depend on the value before the dot. */
function complete(context: CompletionContext, { completions = [] }: EditorProps) {
  const word = context.matchBefore(/[\w$]+/)
  const from = word?.from ?? context.pos
  const dotted = dottedBefore(context, from)
  if (dotted !== '' && !isModule(dotted, completions)) return null
  const fitting = fittingAfter(dotted, completions)
  const isRequested = word !== null || context.explicit || dotted !== ''
  return isRequested && fitting.length > 0 ? completionResult(context, from, fitting) : null
}

/** Ranks the completions of `completionsAt` before all other matches. */
const completionsAtBoost = 99

async function completeAt(context: CompletionContext, { completions = [], completionsAt }: EditorProps) {
  const from = context.matchBefore(/[\w$]+/)?.from ?? context.pos
  const dotted = dottedBefore(context, from)
  const isRequested = from < context.pos || context.explicit || dotted !== ''
  if (!isRequested || isModule(dotted, completions)) return null
  const found = await completionsAt?.(context.state.sliceDoc(0, from))
  const { isComplete, list } = found ?? { isComplete: false, list: [] }
  // Without a dot, `complete` lists the other names.
  const others = dotted === '' || isComplete ? [] : fittingAfter(dotted, completions)
  if (list.length + others.length === 0) return null
  const result = completionResult(context, from, list, completionsAtBoost)
  return { ...result, options: [...result.options, ...completionResult(context, from, others).options] }
}

function isModule(dotted: string, completions: readonly Completion[]): boolean {
  return dotted.length > 1 && completions.some(({ after }) => after === dotted)
}

/** The word with a dot before the position `from`, such as `Math.`; empty without a dot. */
function dottedBefore(context: CompletionContext, from: number): string {
  return /\w*\.$/.exec(context.state.sliceDoc(Math.max(0, from - moduleChars), from))?.[0] ?? ''
}

function completionResult(
  context: CompletionContext,
  from: number,
  completions: readonly Completion[],
  boost = 0,
) {
  // Inside quotes, a completion inserts the name; outside, a call that refers to the object.
  const isQuoted = /["'`]/.test(context.state.sliceDoc(from - 1, from))
  return {
    from,
    validFor: /^[\w$]*$/,
    options: completions.map(({ label, kind, detail, info, text, replacesDot }) => ({
      label,
      type: kind,
      boost,
      ...(detail !== undefined && { detail }),
      ...(info !== undefined && { info }),
      ...(text !== undefined && {
        apply: isQuoted ? label : replacesDot ? replacingDot(text) : text,
      }),
    })),
  }
}

/**
 * The dot of a link, with the white space before it: a bracket on a new line would begin a new statement. The dot of
 * `?.`, or of a short function such as `.name`, also precedes a bracket.
 */
const dotOfLink = /(?<=[\p{L}\p{Nd}_)\]}"'`!])\s*\.\s*$/u

function replacingDot(text: string) {
  return (view: EditorView, choice: Choice, from: number, to: number) => {
    const before = view.state.sliceDoc(Math.max(0, from - moduleChars), from)
    const start = from - (dotOfLink.exec(before)?.[0].length ?? 0)
    view.dispatch({
      ...insertCompletionText(view.state, text, start, to),
      annotations: pickedCompletion.of(choice),
    })
  }
}

/** Length of the text before the typed word, where the name of a module is searched. */
const moduleChars = 64

/** `dotted`: a word with a dot, or an empty text. */
function fittingAfter(dotted: string, completions: readonly Completion[]): readonly Completion[] {
  const ofModule = completions.filter(({ after }) => after === dotted)
  if (dotted !== '' && ofModule.length > 0) return ofModule
  const prefix = dotted === '' ? '' : '.'
  return completions.filter(({ after }) => after === undefined || after === prefix)
}
