// Preloaded into a node by `--import`: with a listener, the signal that goes with a limit on the size of files does not
// end the process, and writes fail as they do on a full disk.

process.on('SIGXFSZ', () => {})
