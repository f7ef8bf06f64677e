// Completes the text of a query of version 10 before the cursor, so that the service can parse it.

const wordPattern =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?|[()[\]{}]/g

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/**
 * Adds a name and the missing closing brackets to a text that ends with a dot. Returns undefined if the text ends in a
 * string or a comment, where a dot begins no name.
 */
export function completeQuery(text: string): string | undefined {
  const open: string[] = []
  let end = 0
  let last = ''
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    end = index + word.length
    last = word
    if (closing[word] !== undefined) open.push(closing[word])
    else if (word.length === 1) open.pop()
  }
  if (end === text.length && /^["'`/]/.test(last)) return undefined
  return `${text}name${open.reverse().join('')}`
}
