// Tokenizers of the languages for syntax highlighting, which needs no grammar, only the kinds of tokens.

import { StreamLanguage, type StringStream } from '@codemirror/language'

/** State that the tokenizer passes on to the next line. */
interface Lines {
  isInComment: boolean
  /** Ends the current heredoc of version 10; empty outside of heredocs. */
  heredoc: string
}

const languageData = {
  closeBrackets: { brackets: ['(', '[', '{', '"', "'"] },
  commentTokens: { line: '//' },
}

/** Returns undefined if there is no comment at the current position. */
function commentAt(stream: StringStream, state: Lines): string | undefined {
  if (state.isInComment || stream.match('/*')) {
    state.isInComment = !stream.match(/^.*?\*\//)
    if (state.isInComment) stream.skipToEnd()
    return 'comment'
  }
  return stream.match(/^\/\/.*/) ? 'comment' : undefined
}

/** Returns the style of the identifier that was just read. */
function nameStyle(stream: StringStream): string {
  if (stream.match(/^\s*\(/, false)) return 'variableName.function'
  return stream.match(/^\s*:/, false) ? 'propertyName' : 'variableName'
}

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

/** Returns the style of a token of version 10, or null. */
function token10(stream: StringStream, state: Lines): string | null {
  if (state.heredoc !== '') {
    if (stream.match(new RegExp(`^\\s*${state.heredoc}\\b`))) state.heredoc = ''
    else stream.skipToEnd()
    return 'string'
  }
  const comment = commentAt(stream, state)
  if (comment !== undefined) return comment
  const heredoc = stream.match(/^<<[+-](\w+)/)
  // Without the flag `g`, `match` returns the groups of the pattern.
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

export const version10Notation = StreamLanguage.define<Lines>({
  name: 'fql10',
  startState: () => ({ isInComment: false, heredoc: '' }),
  token: token10,
  languageData,
})

/** The words that begin a statement of a schema file. */
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

/** A word before one of `:.=,(` is a field or a part of a query, except `predicate`, which precedes `(`. */
const schemaWord = new RegExp(`^(predicate\\b|(${schemaWords.join('|')})\\b(?!\\s*[:.=,(]))`)

/** Schema files contain queries in braces. */
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
