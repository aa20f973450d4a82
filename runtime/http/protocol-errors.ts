import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { codeOf } from '../failure.js';

/**
 * How long a connection is read on after its last answer. If it were destroyed at once while data
 * of the client is on its way, the client would get a reset and never see the answer.
 */
const LINGER_MS = 500;

const PROBLEMS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too long: send at most 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    'the request took too long to arrive: send it faster or in smaller parts',
  ],
};

function answerText(error: Error): string {
  const known = PROBLEMS[codeOf(error) ?? ''];
  const [status, message] = known ?? [400, 'this is not a valid HTTP request'];
  const body = JSON.stringify({ code: 'validation_error', http_status_code: status, message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Answers clients that send invalid HTTP or are too slow, and destroys their connections. Node
 * would only end its own side of one: a client that ignores that keeps the connection, its request
 * and all memory that belongs to it.
 */
export function createProtocolErrors(): (error: Error, socket: Duplex) => void {
  const ending = new WeakSet<Duplex>();
  return (error, socket) => {
    // What still arrives on a connection that ends is invalid again.
    if (ending.has(socket)) return;
    if (!socket.writable || codeOf(error) === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    ending.add(socket);
    const destroy = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(destroy));
    socket.end(answerText(error));
  };
}
