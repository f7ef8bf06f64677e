// How the languages look in the editor, told apart word by word: enough to colour them.

import { StreamLanguage, type StringStream } from '@codemirror/language'

/** What lasts from one line to the next. */
interface Lines {
  isInComment: boolean
  /** The word that ends the text under way of version 10; empty outside. */
  heredoc: string
}

const languageData = {
  closeBrackets: { brackets: ['(', '[', '{', '"', "'"] },
  commentTokens: { line: '//' },
}

/** The style of a comment that begins or goes on here; undefined where there is none. */
function commentAt(stream: StringStream, state: Lines): string | undefined {
  if (state.isInComment || stream.match('/*')) {
    state.isInComment = !stream.match(/^.*?\*\//)
    if (state.isInComment) stream.skipToEnd()
    return 'comment'
  }
  return stream.match(/^\/\/.*/) ? 'comment' : undefined
}

/** The style of the name that was just read. */
function nameStyle(stream: StringStream): string {
  if (stream.match(/^\s*\(/, false)) return 'variableName.function'
  return stream.match(/^\s*:/, false) ? 'propertyName' : 'variableName'
}

/** Queries of version 4 as drivers write them. */
export const driverNotation = StreamLanguage.define<Lines>({
  name: 'fql',
  startState: () => ({ isInComment: false, heredoc: '' }),
  token(stream, state) {
    const comment = commentAt(stream, state)
    if (comment !== undefined) return comment
    if (
      stream.match(/^"(?:[^"\\]|\\.)*"?/) ||
      stream.match(/^'(?:[^'\\]|\\.)*'?/) ||
      stream.match(/^`[^`]*`?/)
    ) {
      return stream.match(/^\s*:/, false) ? 'propertyName' : 'string'
    }
    if (stream.match(/^-?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?n?/)) return 'number'
    if (stream.match(/^(true|false|null|undefined)\b/)) return 'bool'
    if (stream.match(/^[A-Za-z_$][\w$]*/)) return nameStyle(stream)
    stream.next()
    return null
  },
  languageData,
})

/** A word of version 10 and its style; null for what has none. */
function token10(stream: StringStream, state: Lines): string | null {
  if (state.heredoc !== '') {
    if (stream.match(new RegExp(`^\\s*${state.heredoc}\\b`))) state.heredoc = ''
    else stream.skipToEnd()
    return 'string'
  }
  const comment = commentAt(stream, state)
  if (comment !== undefined) return comment
  const heredoc = stream.match(/^<<[+-](\w+)/)
  // A pattern without the flag `g` gives its groups.
  if (heredoc) {
    state.heredoc = (heredoc as RegExpMatchArray)[1] ?? ''
    return 'string'
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) {
    return stream.match(/^\s*:/, false) ? 'propertyName' : 'string'
  }
  if (stream.match(/^(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(\.\d+)?([eE][+-]?\d+)?)/))
    return 'number'
  if (stream.match(/^(true|false|null)\b/)) return 'bool'
  if (stream.match(/^(let|if|else|at|isa)\b/)) return 'keyword'
  if (stream.match(/^[\p{L}_][\p{L}\d_]*/u)) return nameStyle(stream)
  stream.next()
  return null
}

/** Queries of version 10. */
export const version10Notation = StreamLanguage.define<Lines>({
  name: 'fql10',
  startState: () => ({ isInComment: false, heredoc: '' }),
  token: token10,
  languageData,
})

/** Words that begin a statement of a schema file. */
const schemaWords = [
  ...['access\\s+provider', 'collection', 'function', 'role'],
  ...['index', 'terms', 'values', 'unique', 'check', 'compute', 'history_days', 'ttl_days', 'document_ttls'],
  ...[
    'migrations',
    'add',
    'add_wildcard',
    'backfill',
    'drop',
    'move',
    'move_conflicts',
    'move_wildcard',
    'split',
  ],
  ...['privileges', 'membership', 'create', 'read', 'write', 'delete', 'call'],
  ...['history_read', 'create_with_id', 'issuer', 'jwks_uri'],
]

/** With these signs behind it such a word is a name: of a field, or in a query. */
const schemaWord = new RegExp(`^(predicate\\b|(${schemaWords.join('|')})\\b(?!\\s*[:.=,(]))`)

/** Schema files of version 10, which hold queries in braces. */
export const schemaNotation = StreamLanguage.define<Lines>({
  name: 'fsl',
  startState: () => ({ isInComment: false, heredoc: '' }),
  token(stream, state) {
    const isInside = state.isInComment || state.heredoc !== ''
    if (!isInside && /(^|[{};])\s*$/.test(stream.string.slice(0, stream.pos))) {
      if (stream.match(schemaWord)) return 'keyword'
    }
    if (!isInside && stream.match(/^@(role|alias)\b/)) return 'keyword'
    return token10(stream, state)
  },
  languageData,
})
