// The limit of open files, sockets and pipes of this process (`ulimit -n`). Without a free descriptor the process can
// open no file and start no process. Clients can exhaust descriptors by opening connections, so connections get only a
// part of them.

/** The smallest limit with which a service works. */
export const descriptorsMin = 128

/** The smallest number of descriptors kept free for files, pipes and processes. */
const reserveMin = 96

/** The limit of this process; infinite where the system has none. The first call takes some milliseconds. */
export function descriptorsMax(): number {
  max ??= readMax()
  return max
}

let max: number | undefined

function readMax(): number {
  // A report resolves host names unless the network is excluded. Node's types lack the option.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    // Absent on Windows.
    readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** The limit for connections: a quarter of all descriptors, and at least {@link reserveMin}, stays free. */
export function connectionsMax(): number {
  const all = descriptorsMax()
  return all - Math.max(reserveMin, Math.ceil(all / 4))
}
