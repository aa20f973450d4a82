import { chromium as start, type Browser } from 'playwright-core';

/**
 * A real Chromium that comes as an npm package, with the libraries that it needs: nothing is to be
 * installed on the machine, and nothing is downloaded. Its own flags switch the checks of origins
 * off, so it is started with ours alone.
 */
export async function startBrowser(): Promise<Browser> {
  // Makes the package unpack the libraries beside the browser, as on a machine without any.
  process.env['AWS_LAMBDA_JS_RUNTIME'] ??= 'nodejs20.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return start.launch({
    executablePath: await chromium.executablePath(),
    args: [
      // A container runs as root, where the sandbox cannot start; the pages are ours.
      '--no-sandbox',
      '--no-zygote',
      '--disable-gpu',
      '--disable-dev-shm-usage',
    ],
  });
}
