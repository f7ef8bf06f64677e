// A bare TCP connection to a service, for requests that no HTTP client would send.

import { once } from 'node:events'
import net from 'node:net'

export interface RawConnection {
  readonly socket: net.Socket
  /** Everything received so far. */
  received(): string
  /** Resolves when the received data contains `text`; rejects if the connection ends before. */
  until(text: string): Promise<string>
  /** Resolves with all received data after the server has closed the connection. */
  ended(): Promise<string>
}

/** Opens a connection and sends `text`, if given. */
export async function connectRaw(port: number, text?: string | Buffer): Promise<RawConnection> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1').on('data', data => {
    received += data
  })
  // A reset counts as the end of the connection.
  socket.on('error', () => socket.destroy())
  const closed = new Promise<void>(resolve => {
    socket.once('end', () => resolve())
    socket.once('close', () => resolve())
  })
  await once(socket, 'connect')
  if (text !== undefined) socket.write(text)
  return {
    socket,
    received: () => received,
    until: wanted =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (received.includes(wanted)) resolve(received)
        }
        socket.on('data', look)
        closed.then(() => reject(new Error(`closed after ${JSON.stringify(received)}`)))
        look()
      }),
    ended: async () => {
      await closed
      socket.destroy()
      return received
    },
  }
}
