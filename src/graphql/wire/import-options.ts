// Marks requests that import a schema, or read the text of the imported schema.

/** The modes of an import. The first is the default. */
export const importModes = ['merge', 'replace', 'override'] as const

export type ImportMode = (typeof importModes)[number]

/** The options of a request that reads the text of the schema. */
export const schemaTextOptions: Readonly<Record<string, string>> = { kind: 'schema text' }

/** The options of a request that reads the text of the generated schema. */
export const generatedTextOptions: Readonly<Record<string, string>> = {
  ...schemaTextOptions,
  of: 'generated',
}

/** Returns the options of a request that imports a schema. The language checks the mode. */
export function importOptions(mode: string): Readonly<Record<string, string>> {
  return { kind: 'import', mode }
}
