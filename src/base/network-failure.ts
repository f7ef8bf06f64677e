// Why a request had no response, in words; and whether it can help to send it again.

const certificateHint = 'set NODE_EXTRA_CA_CERTS to the file of the certificate, or of its authority'
const untrusted = `its certificate is not trusted; ${certificateHint}`
const wrongScheme = 'it does not speak TLS (http:// instead of https://)'

/** Failures that stay however often a request is sent, by the codes of Node, OpenSSL and undici. */
const lasting: Readonly<Record<string, string>> = {
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

/** Those that may pass. */
const passing: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNREFUSED: 'nothing is served there',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'it does not respond',
  UND_ERR_CONNECT_TIMEOUT: 'it does not respond',
  UND_ERR_SOCKET: 'the connection was closed',
}

/** What a failure of `fetch` says: its reason in words, and whether the same request may succeed later. */
export function networkFailure(failure: unknown): { readonly reason: string; readonly mayPass: boolean } {
  const { cause } = failure as Error
  // `fetch` tells the reason as the cause; a name with several addresses has a reason for each.
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const { code = '', message } = (inner ?? failure) as NodeJS.ErrnoException
  return {
    reason: lasting[code] ?? passing[code] ?? message,
    mayPass: code !== '' && !Object.hasOwn(lasting, code),
  }
}
