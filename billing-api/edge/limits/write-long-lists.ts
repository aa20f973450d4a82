import type { RequestHandler, Response } from 'express';
import { mapInTurns } from '../../../runtime/loop-turns.js';
import { UnwrittenPage } from '../unwritten-page.js';

const COMMA = Buffer.from(',');

/**
 * Made bytes one by one: a text of all would be joined and encoded in one go, which takes as long
 * as a slice.
 */
async function bytesOfItems({ page, complete }: UnwrittenPage): Promise<readonly Buffer[]> {
  const written = await mapInTurns(page.items, (item) => {
    const whole = complete(item);
    return whole instanceof UnwrittenPage ? whole : Buffer.from(JSON.stringify(whole));
  });
  const pieces: Buffer[] = [];
  for (const [place, item] of written.entries()) {
    if (place > 0) pieces.push(COMMA);
    pieces.push(item instanceof UnwrittenPage ? await bytesOfPage(item) : item);
  }
  return pieces;
}

/** As `JSON.stringify` writes it. */
async function bytesOfPage(unwritten: UnwrittenPage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let separator = '{';
  const { page, list } = unwritten.page;
  for (const [name, value] of Object.entries(page)) {
    const text = name === list ? '[' : JSON.stringify(value);
    if (text === undefined) continue;
    pieces.push(Buffer.from(`${separator}${JSON.stringify(name)}:${text}`));
    if (name === list) pieces.push(...(await bytesOfItems(unwritten)), Buffer.from(']'));
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
