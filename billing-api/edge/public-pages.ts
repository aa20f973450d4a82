import type { RequestHandler } from 'express';
import type { PublicRate } from '../../runtime/http/public-rate.js';
import { HttpFailure } from './http-failure.js';

/** Express would answer OPTIONS by itself, with 200. */
export const onlyReading: RequestHandler = (request, _response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') next();
  else next('router');
};

/** Lets as many requests of an address pass as may be, and refuses the others. */
export function limitTo({ take, refusal }: PublicRate): RequestHandler {
  return (request, response, next) => {
    const { isAllowed, headers } = take(request);
    for (let index = 0; index + 1 < headers.length; index += 2) {
      response.set(headers[index] ?? '', headers[index + 1] ?? '');
    }
    if (!isAllowed) throw new HttpFailure(429, 'too_many_requests', refusal);
    next();
  };
}
