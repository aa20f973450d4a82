import { invoicePdf } from './invoice-pdf.js';
import { pageOfBytes } from './printed-page-bytes.js';

/** What threads of billing-api do that make papers (reading/print/papers.ts): a page as a PDF. */
export function makePaper(page: Uint8Array): Promise<Uint8Array> {
  return invoicePdf(pageOfBytes(page));
}
