/** The names of the scalars that every schema has. */
export const scalarNames: ReadonlySet<string> = new Set([
  'Boolean',
  'Date',
  'Float',
  'ID',
  'Int',
  'Long',
  'String',
  'Time',
])
