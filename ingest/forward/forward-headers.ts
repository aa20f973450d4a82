import type { IncomingMessage } from 'node:http';
import { seenAddressOf } from '../../runtime/http/failed-authentication.js';

/**
 * Headers of one connection, which end at each end of it (RFC 9110, 7.6.1). `Expect` is among them
 * because ingest has told the client already to send its body.
 */
const OF_ONE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

type Message = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

/** The headers that end here: those of one connection, and those that `Connection` names. */
function endingHere({ headers }: Message): ReadonlySet<string> {
  const named = String(headers.connection ?? '').toLowerCase();
  const further = named
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return new Set([...OF_ONE_CONNECTION, ...further]);
}

/** Names and values in turn, as they arrived, without those that `isLeftOut`. */
function headersBut(message: Message, isLeftOut: (name: string) => boolean): string[] {
  const kept: string[] = [];
  const { rawHeaders } = message;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!isLeftOut(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** Whether a body follows the headers; its length comes from them alone, never from the method. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The length of a body is told in one way only, and in the way in which it was read, so that the
 * receiver cannot take a part of it for another request.
 */
function framingOf({ headers }: Message): readonly string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  return ['Content-Length', headers['content-length'] ?? '0'];
}

/** Written anew: one of each must be there, whatever the client sent or named in `Connection`. */
const WRITTEN_ANEW: ReadonlySet<string> = new Set(['host', 'content-length', 'x-forwarded-for']);

/**
 * The headers with which a request is sent on. `X-Forwarded-For` is the one address of the client
 * as ingest sees it, whatever the client itself wrote there.
 * @param proxyCount the reverse proxies in front of ingest (`MINUTEBOOK_PROXY_COUNT`).
 */
export function requestHeaders(request: IncomingMessage, proxyCount: number): string[] {
  const ending = endingHere(request);
  const kept = headersBut(request, (name) => ending.has(name) || WRITTEN_ANEW.has(name));
  kept.push('Host', request.headers.host ?? '');
  kept.push('X-Forwarded-For', seenAddressOf(request, proxyCount));
  kept.push(...framingOf(request));
  return kept;
}

/** The headers with which an answer is sent on. */
export function answerHeaders(answer: Message): string[] {
  const ending = endingHere(answer);
  return headersBut(answer, (name) => ending.has(name));
}
