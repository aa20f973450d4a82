import type { RequestHandler } from 'express';
import { createUlid } from '../../runtime/ulid.js';
import { contextOf } from './request-context.js';

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/**
 * Echoes `X-Request-ID` when it is 1 to 128 printable characters, else makes one (docs/http.md
 * 1.4).
 */
export const giveRequestId: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id');
  const requestId = given !== undefined && PRINTABLE.test(given) ? given : `req_${createUlid()}`;
  contextOf(request).requestId = requestId;
  response.set('X-Request-ID', requestId);
  next();
};
