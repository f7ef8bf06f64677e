// Reads the sentences of pages and of comments in code. Code blocks, code spans, the targets of links, JSDoc tags and
// directives of tools are not prose; each heading, list item and table cell is a piece of text of its own.

/** A sentence, heading, list item or table cell. */
export interface Sentence {
  readonly path: string
  readonly line: number
  /** Without markup; blanks within code spans are dots (`·`), so that a code span is one word. */
  readonly text: string
}

/** Shorter texts are labels, not sentences. */
const wordsMin = 3

/** The sentences of a page (`.md`) or of the comments of a source file. */
export function sentencesOf(path: string, text: string): readonly Sentence[] {
  const prose = path.endsWith('.md') ? pageLines(path, text) : commentLines(path, text)
  return blocks(prose).flatMap(({ line, text }) =>
    plain(text)
      .split(/(?<=[.!?]["')]?)\s+(?=["'(]?[A-Z0-9`])/)
      .filter(sentence => wordCount(sentence) >= wordsMin)
      .map(sentence => ({ path, line, text: sentence })),
  )
}

export function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter(word => /\w/.test(word)).length
}

/** Released parts of the changelog are history and stay as they were published. */
function pageLines(path: string, text: string): readonly string[] {
  const [unreleased = ''] = path === 'CHANGELOG.md' ? text.split(/^## (?!.*not released)/m) : [text]
  return unreleased.split('\n')
}

/** The text of each line's comment as a line of Markdown: a line of code is an empty one. */
function commentLines(path: string, text: string): readonly string[] {
  const isScript = !/\.[jt]sx?$/.test(path)
  let isWithin = false
  return text.split('\n').map(line => {
    if (isScript) return /^\s*#(?!!) ?(.*)/.exec(line)?.[1] ?? ''
    const opens = /^\s*(?:\{)?\/\*\*?/.exec(line)
    if (isWithin || opens) {
      isWithin = !line.includes('*/')
      return withoutTag(line.slice(opens?.[0].length ?? 0).replace(/\*\/.*/, '')).replace(/^\s*\* ?/, '')
    }
    const whole = /^\s*\/\/(.*)/.exec(line)
    if (whole) return isDirective(whole[1] ?? '') ? '' : (whole[1] ?? '').replace(/^ /, '')
    const trailing = /\s\/\/ (.*)/.exec(line)?.[1]
    return trailing === undefined || isDirective(trailing) ? '' : `- ${trailing}`
  })
}

/** The text of a JSDoc tag becomes a list item, which does not continue the sentence before it. */
function withoutTag(line: string): string {
  return line.replace(/^\s*\*?\s*@(param \S+|\w+)(\s+\{[^}]*\})?\s*/, '- ')
}

function isDirective(comment: string): boolean {
  return /^\s*(biome-ignore|@ts-|<reference)/.test(comment)
}

interface Block {
  readonly line: number
  readonly text: string
}

function blocks(lines: readonly string[]): readonly Block[] {
  const found: Block[] = []
  let fence: string | undefined
  let isOpen = false
  for (const [index, content] of lines.entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(content)?.[1]
    if (mark && (fence === undefined || mark === fence)) fence = fence === undefined ? mark : undefined
    if (mark || fence !== undefined || /^\s*($|<|[|: -]+$)/.test(content) || isCode(content, isOpen)) {
      isOpen = false
    } else if (/^\s*\|/.test(content)) {
      const cells = content.split(/(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/)
      found.push(...cells.map(text => ({ line: index + 1, text })))
      isOpen = false
    } else {
      const [, start, text = ''] = /^\s*(#{1,6} |[-*+] |\d+[.)] |> ?)?(.*)/.exec(content) ?? []
      const last = found.at(-1)
      if (isOpen && !start && last) found[found.length - 1] = { ...last, text: `${last.text} ${text}` }
      else found.push({ line: index + 1, text })
      isOpen = !start?.startsWith('#')
    }
  }
  return found
}

/** Indented by four blanks or more, and no continuation of a list item. */
function isCode(line: string, isOpen: boolean): boolean {
  return !isOpen && /^ {4}/.test(line) && !/^\s*([-*+]|\d+[.)]) /.test(line)
}

function plain(text: string): string {
  return text
    .replace(/(`+)(.+?)\1/g, (_, _marks, code: string) => `\`${code.trim().replace(/\s+/g, '·')}\``)
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/\{@link (\S+?)\}/g, '`$1`')
    .replace(/<[^>]*>|\*\*|(?<!\w)[*_]|[*_](?!\w)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
