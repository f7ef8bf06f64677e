// Counts with their nouns.

/** A count with the form of its noun: `1 file`, `2 files`. */
export function quantity(count: number | string, one: string, many = `${one}s`): string {
  return `${count} ${String(count) === '1' ? one : many}`
}
