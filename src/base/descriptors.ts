// How many files, sockets and pipes this process may have open at a time (`ulimit -n`). Without one left, no file can be
// opened and no process started, so those that strangers can take, connections, get only a part of them.

/** The least with which a service can do its work. */
export const descriptorsMin = 128

/** What files, pipes and processes of the service need at least. */
const reserveMin = 96

/** How many this process may have open; infinite where the system has no bound. Takes some milliseconds the first time. */
export function descriptorsMax(): number {
  max ??= readMax()
  return max
}

let max: number | undefined

function readMax(): number {
  // Without it a report looks names up. Node's types lack the option.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as {
    // Absent on Windows.
    readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } }
  }
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** How many of them connections may take: a quarter is kept back, and not too few. */
export function connectionsMax(): number {
  const all = descriptorsMax()
  return all - Math.max(reserveMin, Math.ceil(all / 4))
}
