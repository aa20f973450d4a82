import type { Response } from 'express';

/**
 * Calls `callback` once, when the answer is handed over: the work for the request is done then. A
 * client that leaves early does not end that work, so its connection says nothing.
 */
export function whenAnswered(response: Response, callback: () => void): void {
  const end = response.end.bind(response) as (...parameters: unknown[]) => Response;
  let isDone = false;
  const ending = (...parameters: unknown[]): Response => {
    if (!isDone) {
      isDone = true;
      callback();
    }
    return end(...parameters);
  };
  response.end = ending as Response['end'];
}
