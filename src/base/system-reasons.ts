// Describes in words why a system call on a file or an address failed, and why a request got no response.

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'it is already in use',
  ENOENT: 'it does not exist',
  EADDRNOTAVAIL: 'the machine does not have this address',
  ENOTFOUND: 'the name is unknown',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'part of the path is not a directory',
  // From `mkdirSync` with `recursive`, when the path is a file.
  EEXIST: 'it is not a directory',
  ENOSPC: 'the disk is full',
}

export function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code
  return (code !== undefined && reasons[code]) || (code ?? String(cause))
}

const certificateHint = 'set NODE_EXTRA_CA_CERTS to the file of the certificate, or of its authority'
const untrusted = `its certificate is not trusted; ${certificateHint}`
const wrongScheme = 'it does not speak TLS (http:// instead of https://)'

/** Reasons after which a retry fails, too. The keys are error codes of Node, OpenSSL and undici. */
const permanentReasons: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  ENOTFOUND: 'the name is unknown',
  EPROTO: wrongScheme,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: wrongScheme,
  ERR_SSL_WRONG_VERSION_NUMBER: wrongScheme,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
}

/**
 * Texts for some reasons after which a retry may succeed. {@link networkFailure} also treats all other codes that are not
 * in {@link permanentReasons} as temporary.
 */
const temporaryReasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNREFUSED: 'nothing is served there',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'it does not respond',
  UND_ERR_CONNECT_TIMEOUT: 'it does not respond',
  UND_ERR_SOCKET: 'the connection was closed',
}

/** Explains an error of `fetch`. `isTemporary`: a retry may succeed. */
export function networkFailure(error: unknown): { readonly reason: string; readonly isTemporary: boolean } {
  const { cause } = error as Error
  // If a name has several addresses, the cause contains one error for each address.
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const { code = '', message } = (inner ?? error) as NodeJS.ErrnoException
  return {
    reason: permanentReasons[code] ?? temporaryReasons[code] ?? message,
    isTemporary: code !== '' && !Object.hasOwn(permanentReasons, code),
  }
}
