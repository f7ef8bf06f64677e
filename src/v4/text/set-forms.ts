// The forms of version 4 that stand for sets.

/** Leading keys of the forms of sets; within another set they may stand without a tag. */
export const setForms: ReadonlySet<string> = new Set([
  'match',
  'singleton',
  'events',
  'documents',
  'union',
  'intersection',
  'difference',
  'distinct',
  'reverse',
  'range',
  'join',
  'filter',
])
