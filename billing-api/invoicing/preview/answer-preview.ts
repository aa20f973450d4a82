import { LargeInvoice } from '../compute/large-invoice.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { PreviewDto, PreviewInvoiceBody } from '../../documents/answer/invoice-dto.js';
import type { LargePreviews } from './large-previews.js';
import { previewInvoice } from './preview-invoice.js';

/** More buckets take longer than a tenth of a second: others would wait. */
const BUCKETS_HERE_MAX = 100_000;

/** Computes a preview and writes its answer. */
export async function answerPreview(
  dependencies: UsageReadDependencies & { readonly bucketsMax?: number },
  occasion: Occasion,
  body: PreviewInvoiceBody,
): Promise<PreviewDto | Refusal> {
  const preview = await previewInvoice(dependencies, occasion, body);
  if (isRefusal(preview)) return preview;
  const { document, warnings } = preview;
  const { windows_limit: limit = 100, windows_offset: offset = 0 } = body;
  const answer = invoiceToDto(document, body.explain === true ? { limit, offset } : null);
  return { ...answer, warnings: [...warnings] };
}

export type PreviewDependencies = UsageReadDependencies & { readonly largePreviews: LargePreviews };

/** As `answerPreview`, but a preview of very many buckets is computed beside the event loop. */
export async function answerPreviewOfAnySize(
  dependencies: PreviewDependencies,
  asked: { readonly occasion: Occasion; readonly body: PreviewInvoiceBody },
  signal: AbortSignal,
): Promise<PreviewDto | Refusal> {
  const { occasion, body } = asked;
  try {
    const bounded = { ...dependencies, bucketsMax: BUCKETS_HERE_MAX };
    return await answerPreview(bounded, occasion, body);
  } catch (error) {
    if (!(error instanceof LargeInvoice)) throw error;
    const { largePreviews } = dependencies;
    const dataUntil = await dependencies.dataUntil();
    return largePreviews({ occasion: { ...occasion, at: error.now }, body, dataUntil }, signal);
  }
}
