// Types of sources.js, which stays plain JavaScript because `npm ci` may run it with a Node without type stripping.

/** Root folder of the repository, with a slash at the end. */
export declare const repository: string
/** Path of the program: the bundle if it was built from the current sources, else `src/cli/main.ts`. */
export declare function programFile(): string
