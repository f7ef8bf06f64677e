// Converts the errors of an import for the dashboard: names the fields of the form instead of the options of the command
// line.

const skipField = '“Skip documents that cannot be imported” to skip it'

const replacements: readonly (readonly [RegExp, string])[] = [
  [
    / \(--row-ids uses `id` as the id of the document; --skip-bad N skips N of them\)/,
    `. Turn on “Use the field id as the id of the document”, or turn on ${skipField}`,
  ],
  [/ \(--skip-bad N skips N of them\)/, `. Turn on ${skipField}`],
  [/use --encoding to name the encoding of the file/, 'choose its encoding'],
  [/\(see --allow-short-rows\)/, '(see “Rows may be shorter than the header”)'],
  [/\(see --on-conflict\)/, '(see “If a document already exists”)'],
]

/** Returns `error` itself if its message names no option. */
export function formError(error: Error): Error {
  const text = replacements.reduce(
    (message, [option, words]) => message.replace(option, words),
    error.message,
  )
  return text === error.message ? error : new Error(text)
}
