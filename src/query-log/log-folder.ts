// The folder of the query log in a data directory. It exists once the directory has been served.

/** Its name. */
export const queryLogFolder = 'query-log'
