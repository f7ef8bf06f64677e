// The names of region groups. An instance belongs to one; the others are known so that a pipeline which asks for all
// of them is told that there is nothing, and not that it is wrong.

/** The region groups of the hosted service. */
const hosted: readonly string[] = ['us-std', 'eu-std']

/** Whether there is a region group of that name, seen from an instance of the group `own`. */
export function isRegionGroup(name: string, own: string): boolean {
  return name === own || hosted.includes(name)
}
