// Types of sources.js, which stays plain JavaScript because `npm ci` may run it on a Node without type stripping.

/** Root folder of the repository, with a slash at the end. */
export declare const repository: string
/** Script to run: the built program when it was built from the sources as they are, else `src/cli/main.ts`. */
export declare function programFile(): string
