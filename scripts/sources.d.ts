// Types of sources.js, which stays plain JavaScript because `npm ci` may run it with a Node without type stripping.

/** Path with a slash at the end. */
export declare const repository: string
export declare const dashboardSources: readonly string[]
/** The bundle if it was built from the current sources, else `src/cli/main.ts`. */
export declare function programFile(): string
