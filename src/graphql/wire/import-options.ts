// Marks requests that import a schema.

/** The modes of an import. The first is the default. */
export const importModes = ['merge', 'replace', 'override'] as const

/** A mode of an import. */
export type ImportMode = (typeof importModes)[number]

/** Returns the options of a request that imports a schema. The language checks the mode. */
export function importOptions(mode: string): Readonly<Record<string, string>> {
  return { kind: 'import', mode }
}
