import type { RequestHandler, Response } from 'express';
import { mapInTurns } from '../../../runtime/loop-turns.js';
import { UnwrittenPage } from '../unwritten-page.js';

/** As `JSON.stringify` writes it. */
async function textOfPage({ page, complete }: UnwrittenPage): Promise<string> {
  const items = await mapInTurns(page.items, (item) => JSON.stringify(complete(item)));
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
    if (!(body instanceof UnwrittenPage)) return json(body);
    textOfPage(body).then((text) => response.type('json').send(text), next);
    return response;
  };
  next();
};
