import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import helmet from 'helmet';
import { createOperationalPages, type Operations } from '../../runtime/operational-pages.js';
import { createPublicRate, type PublicLimits } from '../../runtime/http/public-rate.js';
import { projectRoot } from '../../runtime/project.js';
import { createDocsPages } from './docs-pages.js';
import { limitTo, onlyReading } from './public-pages.js';

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Minutebook: try requests</title>
    <link rel="icon" href="/docs/try/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/try/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/try/swagger-ui-bundle.js"></script>
    <script src="/docs/try/start.js"></script>
  </body>
</html>
`;

/** The server of this page comes first, so that "Try it out" reaches it. */
const START = `fetch('/openapi.json')
  .then((answer) => answer.json())
  .then((spec) => {
    spec.servers = [{ url: '/v1', description: 'This server' }].concat(spec.servers);
    SwaggerUIBundle({
      spec,
      dom_id: '#reference',
      deepLinking: true,
      docExpansion: 'none',
      tryItOutEnabled: true,
      persistAuthorization: false,
      validatorUrl: null,
    });
  });
`;

/** Everything comes from this server; the page sets inline styles and shows inline images. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  strictTransportSecurity: false,
});

/** Health and metrics; any other path is left to the handlers that follow. */
function createPages(operations: Operations): RequestHandler {
  const pageOf = createOperationalPages(operations);
  return async (request, response, next) => {
    const page = await pageOf(request.path);
    if (page === null) next();
    else response.status(page.status).type(page.type).send(page.body);
  };
}

type OperationalRoutes = Operations & { readonly publicLimits: PublicLimits };

/**
 * The operational routes (docs/http.md 2.3): outside `/v1` and without a key. The page that tries
 * requests works without the internet: its files are those of the package swagger-ui-dist.
 */
export function createOperationalRoutes({
  publicLimits,
  ...operations
}: OperationalRoutes): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const spec = readFileSync(join(projectRoot, 'billing-api', 'generated', 'openapi.json'));
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  router.use(onlyReading);
  router.get('/metrics', limitTo(createPublicRate(publicLimits)));
  router.use(createPages(operations));
  router.get([/^\/openapi\.json$/, /^\/docs(\/|$)/], limitTo(createPublicRate(publicLimits)));
  router.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(spec);
  });
  router.use('/docs/try', securityHeaders);
  router.get(/^\/docs\/try\/?$/, (_request, response) => {
    response.type('html').send(PAGE);
  });
  router.get('/docs/try/start.js', (_request, response) => {
    response.type('text/javascript').send(START);
  });
  for (const asset of ASSETS) {
    router.get(`/docs/try/${asset}`, (_request, response) => {
      response.removeHeader('Cache-Control');
      response.sendFile(join(folder, asset), { maxAge: '1h' });
    });
  }
  router.use(createDocsPages());
  return router;
}
