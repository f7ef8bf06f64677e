// Marks requests that import a schema, or read the text of the imported or the generated schema.

/** The first mode is the default. */
export const importModes = ['merge', 'replace', 'override'] as const

export type ImportMode = (typeof importModes)[number]

export const schemaTextOptions: Readonly<Record<string, string>> = { kind: 'schema text' }

export const generatedTextOptions: Readonly<Record<string, string>> = {
  ...schemaTextOptions,
  of: 'generated',
}

/** The language checks the mode. */
export function importOptions(mode: string): Readonly<Record<string, string>> {
  return { kind: 'import', mode }
}
