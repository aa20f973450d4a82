import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { hashText } from '../../runtime/hash-text.js';

const compress = promisify(gzip);

/** A name of a folder or file that a build writes: nothing hidden, and no way out of the folder. */
const PART = /^[\w@][\w@.-]*$/;

export type StaticFile = {
  readonly type: string;
  readonly whole: Buffer;
  readonly small: Buffer;
  readonly tag: string;
  readonly changedAt: number;
};

/**
 * The files of a folder that a build writes. Each is read and compressed when it is first asked for
 * and kept until it is another one. @returns null for a name without a file.
 */
export function createStaticFiles(folder: string): (name: string) => Promise<StaticFile | null> {
  const known = new Map<string, StaticFile>();
  return async (name) => {
    if (!name.split('/').every((part) => PART.test(part))) return null;
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile()) return null;
    const kept = known.get(name);
    if (kept?.changedAt === found.mtimeMs) return kept;
    const whole = await readFile(path);
    const tag = `"${hashText(whole.toString('base64'))}"`;
    const type = extname(name);
    const small = await compress(whole);
    const file = { type, whole, small, tag, changedAt: found.mtimeMs };
    known.set(name, file);
    return file;
  };
}

/**
 * Headers of pages that may load nothing but what this server serves: whatever slipped into one
 * could neither run nor tell anybody.
 * @param imgSrc where images may come from, beside this server.
 * @param trustedTypes the policies by which a text may become a part of the page.
 */
export function pageHeaders({
  imgSrc,
  trustedTypes,
}: {
  readonly imgSrc: readonly string[];
  readonly trustedTypes: readonly string[];
}): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", ...imgSrc],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        'require-trusted-types-for': ["'script'"],
        'trusted-types': trustedTypes,
      },
    },
    strictTransportSecurity: false,
  });
}

/** @param caching a new release is seen immediately unless the name of the file changes with it. */
export function sendStaticFile(
  response: Response,
  { type, whole, small, tag }: StaticFile,
  caching = 'no-cache',
): void {
  const { req: request } = response;
  response.set({ 'Cache-Control': caching, ETag: tag, Vary: 'Accept-Encoding' });
  if (request.get('if-none-match') === tag) {
    response.status(304).end();
    return;
  }
  response.type(type);
  if (request.acceptsEncodings('gzip') === 'gzip') {
    response.set('Content-Encoding', 'gzip').send(small);
  } else response.send(whole);
}
