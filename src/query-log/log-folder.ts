// Where the query log lies in a data directory; there as soon as the directory was served.

/** Its name. */
export const queryLogFolder = 'query-log'
