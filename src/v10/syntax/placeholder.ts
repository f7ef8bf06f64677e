// How the value of a template stands in the text of its query.

/** The text of every value. */
export const placeholderText = '<value>'
