import { join } from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import { createPublicRate, type PublicLimits } from '../../runtime/http/public-rate.js';
import { projectRoot } from '../../runtime/project.js';
import { HttpFailure } from './http-failure.js';
import { limitTo, onlyReading } from './public-pages.js';
import { createStaticFiles, pageHeaders, sendStaticFile } from './static-files.js';

/** No text becomes a part of a page of the console. */
const securityHeaders = pageHeaders({ imgSrc: [], trustedTypes: ["'none'"] });

/**
 * The console below `/console`: its files, and for the address of any screen the page that shows
 * it. All are public, since they tell nothing; what they show is read with a session.
 */
export function createConsolePages(limits: PublicLimits): Router {
  // Where the build of `web/` puts the console.
  const findFile = createStaticFiles(join(projectRoot, 'dist', 'console'));
  const router = express.Router({ caseSensitive: true, strict: true });
  const page: RequestHandler = async (_request, response) => {
    const file = await findFile('index.html');
    if (file === null) {
      const message = 'the console is not built: `npm run build` builds it';
      throw new HttpFailure(404, 'not_found', { message });
    }
    sendStaticFile(response, file);
  };
  router.use(onlyReading);
  router.use('/console', limitTo(createPublicRate(limits)), securityHeaders);
  router.get('/console', (_request, response) => {
    response.redirect(308, '/console/');
  });
  router.get('/console/:name', async (request, response, next) => {
    const file = await findFile(request.params.name);
    if (file === null) next();
    else sendStaticFile(response, file);
  });
  router.get(/^\/console\//, page);
  return router;
}
