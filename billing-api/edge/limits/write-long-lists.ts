import type { RequestHandler, Response } from 'express';
import { mapInTurns } from '../../../runtime/loop-turns.js';
import { UnwrittenPage } from '../unwritten-page.js';

/**
 * Made bytes one by one: a text of all would be joined and encoded in one go, which takes as long
 * as a slice.
 */
async function bytesOfItems({ page, complete }: UnwrittenPage): Promise<readonly Buffer[]> {
  let separator = '';
  return mapInTurns(page.items, (item) => {
    const bytes = Buffer.from(`${separator}${JSON.stringify(complete(item))}`);
    separator = ',';
    return bytes;
  });
}

/** As `JSON.stringify` writes it. */
async function bytesOfPage(unwritten: UnwrittenPage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let separator = '{';
  for (const [name, value] of Object.entries(unwritten.page)) {
    const text = name === 'items' ? '[' : JSON.stringify(value);
    if (text === undefined) continue;
    pieces.push(Buffer.from(`${separator}${JSON.stringify(name)}:${text}`));
    if (name === 'items') pieces.push(...(await bytesOfItems(unwritten)), Buffer.from(']'));
    separator = ',';
  }
  return Buffer.concat([...pieces, Buffer.from('}')]);
}

/** Writes long pages in slices, so that others have their turns in between. */
export const writeLongLists: RequestHandler = (_request, response, next) => {
  const json = response.json.bind(response);
  response.json = (body: unknown): Response => {
    if (!(body instanceof UnwrittenPage)) return json(body);
    bytesOfPage(body).then((bytes) => response.type('json').send(bytes), next);
    return response;
  };
  next();
};
