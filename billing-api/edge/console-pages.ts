import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import express, { type RequestHandler, type Response, type Router } from 'express';
import helmet from 'helmet';
import { createPublicRate, type PublicLimits } from '../../runtime/http/public-rate.js';
import { hashText } from '../../runtime/hash-text.js';
import { projectRoot } from '../../runtime/project.js';
import { HttpFailure } from './http-failure.js';
import { limitTo, onlyReading } from './public-pages.js';

/** Where the build of `web/` puts the console. */
const FOLDER = join(projectRoot, 'dist', 'console');

/**
 * Nothing but what this server serves, and no text becomes a script: whatever slipped into a page
 * could neither run nor tell anybody.
 */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      'require-trusted-types-for': ["'script'"],
      'trusted-types': ["'none'"],
    },
  },
  strictTransportSecurity: false,
});

type Asset = {
  readonly type: string;
  readonly whole: Buffer;
  readonly small: Buffer;
  readonly tag: string;
};

/** Files are few and small: all of them are read once, and kept. */
function readAssets(): ReadonlyMap<string, Asset> {
  if (!existsSync(FOLDER)) return new Map();
  return new Map(
    readdirSync(FOLDER).map((name) => {
      const whole = readFileSync(join(FOLDER, name));
      const tag = `"${hashText(whole.toString('base64'))}"`;
      return [name, { type: extname(name), whole, small: gzipSync(whole), tag }];
    }),
  );
}

function sendAsset(response: Response, { type, whole, small, tag }: Asset): void {
  const { req: request } = response;
  // A new release is seen at once; until then nothing is sent again.
  response.set({ 'Cache-Control': 'no-cache', ETag: tag, Vary: 'Accept-Encoding' });
  if (request.get('if-none-match') === tag) {
    response.status(304).end();
    return;
  }
  response.type(type);
  if (request.acceptsEncodings('gzip') === 'gzip') {
    response.set('Content-Encoding', 'gzip').send(small);
  } else response.send(whole);
}

/**
 * The console below `/console`: its files, and for the address of any screen the page that shows
 * it. All are public, since they tell nothing; what they show is read with a session.
 */
export function createConsolePages(limits: PublicLimits): Router {
  const assets = readAssets();
  const router = express.Router({ caseSensitive: true, strict: true });
  const page: RequestHandler = (_request, response) => {
    const asset = assets.get('index.html');
    if (asset === undefined) {
      const message = 'the console is not built: `npm run build` builds it';
      throw new HttpFailure(404, 'not_found', { message });
    }
    sendAsset(response, asset);
  };
  router.use(onlyReading);
  router.use('/console', limitTo(createPublicRate(limits)), securityHeaders);
  router.get('/console', (_request, response) => {
    response.redirect(308, '/console/');
  });
  router.get('/console/:name', (request, response, next) => {
    const asset = assets.get(request.params.name);
    if (asset === undefined) next();
    else sendAsset(response, asset);
  });
  router.get(/^\/console\//, page);
  return router;
}
