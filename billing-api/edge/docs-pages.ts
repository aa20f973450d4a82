import { join } from 'node:path';
import express, { type Response, type Router } from 'express';
import { projectRoot } from '../../runtime/project.js';
import { HttpFailure } from './http-failure.js';
import { createStaticFiles, pageHeaders, sendStaticFile, type StaticFile } from './static-files.js';

/**
 * Scripts and styles are files of this server; the build moves those of the generator out of the
 * pages. Its icons are images inside the style sheet. Vue writes texts of our pages into elements
 * by a policy of its own name, and nothing else may.
 */
const securityHeaders = pageHeaders({ imgSrc: ['data:'], trustedTypes: ['vue'] });

/** Names below it change with their content. */
const HASHED = /^assets\/.*\.[\w-]{8,}\.(?:lean\.)?(?:js|css)$/;
const A_YEAR = 'public, max-age=31536000, immutable';

function refuseUnbuilt(): never {
  const message = 'the pages are not built, or are being built: `npm run build` builds them';
  throw new HttpFailure(404, 'not_found', { message });
}

/** The site of the pages below `/docs`: pages, their Markdown, and what the pages load. */
export function createDocsPages(): Router {
  const findFile = createStaticFiles(join(projectRoot, 'dist', 'pages'));
  const router = express.Router({ caseSensitive: true, strict: true });
  /** A page has the address of its Markdown without the ending; that of a folder is its index. */
  const findPage = async (name: string): Promise<StaticFile | null> =>
    findFile(/(^|\/)$/.test(name) ? `${name}index.html` : `${name}.html`);
  const sendPage = async (response: Response, name: string): Promise<void> => {
    const page = await findPage(name);
    if (page !== null) {
      sendStaticFile(response, page);
      return;
    }
    const unknown = (await findFile('404.html')) ?? refuseUnbuilt();
    sendStaticFile(response.status(404), unknown);
  };
  router.use('/docs', securityHeaders);
  router.get('/docs', (_request, response) => sendPage(response, ''));
  router.get(/^\/docs\/(.*)$/, async (request, response) => {
    const name = String(request.params[0]);
    const file = await findFile(name);
    if (file === null) await sendPage(response, name);
    else sendStaticFile(response, file, HASHED.test(name) ? A_YEAR : 'no-cache');
  });
  return router;
}
