import type { RequestHandler, Response } from 'express';
import { mapInTurns } from '../../../runtime/loop-turns.js';

/** Writing a list of this length takes a millisecond or less. */
const SHORT_LIST_MAX = 100;

type LongPage = { readonly items: readonly unknown[] };

function isLongPage(body: unknown): body is LongPage {
  if (typeof body !== 'object' || body === null || !('items' in body)) return false;
  return Array.isArray(body.items) && body.items.length > SHORT_LIST_MAX;
}

/** As `JSON.stringify` writes it. */
async function textOfPage(page: LongPage): Promise<string> {
  const items = await mapInTurns(page.items, (item) => JSON.stringify(item));
  const members = Object.entries(page).flatMap(([name, value]) => {
    const text = name === 'items' ? `[${items.join()}]` : JSON.stringify(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join()}}`;
}

/** Writes long pages in slices, so that others have their turns in between. */
export const writeLongLists: RequestHandler = (_request, response, next) => {
  const json = response.json.bind(response);
  response.json = (body: unknown): Response => {
    if (!isLongPage(body)) return json(body);
    textOfPage(body).then((text) => response.type('json').send(text), next);
    return response;
  };
  next();
};
