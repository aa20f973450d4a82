import type { IncomingMessage } from 'node:http';
import type { EventProblem } from '../accept/event-problem.js';

export type EventPath = '/v1/events' | '/v1/events/bulk';

/** One of the two event routes, with the text after the question mark. */
export type EventRoute = { readonly path: EventPath; readonly query: string };

export function isEventPath(path: string): path is EventPath {
  return path === '/v1/events' || path === '/v1/events/bulk';
}

/** Null for every other path and method, such as GET /v1/events: the fallback answers those. */
export function eventRouteOf(request: IncomingMessage): EventRoute | null {
  const url = request.url ?? '';
  if (request.method !== 'POST' || !url.startsWith('/v1/events')) return null;
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  if (!isEventPath(path)) return null;
  return { path, query: mark === -1 ? '' : url.slice(mark + 1) };
}

/**
 * The query parameter `atomic` (docs/http.md 10.1), false when absent. Other parameters are
 * ignored.
 */
export function atomicOf(query: string): boolean | EventProblem {
  const text = query === '' ? '' : (new URLSearchParams(query).get('atomic') ?? '');
  if (text === '' || text === 'false') return false;
  if (text === 'true') return true;
  return { member: 'atomic', problem: 'must be true or false' };
}
