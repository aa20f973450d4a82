import { Extension, Get, Path, Query, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { accepted } from '../../edge/http-failure.js';
import { tagReadVersion } from '../../edge/versions.js';
import { invoiceToDtoInTurns } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import { explanationToDto } from '../../documents/answer/explanation-answer.js';
import type { ExplanationDto } from '../../documents/answer/explanation-dto.js';
import { readInvoice } from '../../invoicing/invoices/read-invoice.js';
import { lineEventsToDto, type LineEventsDto } from '../events/line-events-dto.js';
import type { LineEventReadDependencies } from '../events/read-line-events.js';
import { readInvoiceWithGroups } from './group-usage.js';
import { lineOfInvoice } from './line-of-invoice.js';
import { readStoredEvents } from './read-stored-events.js';
import { verificationToDto, type VerificationDto } from './verification-dto.js';
import { bundleOf, type InvoiceBundleDto } from './invoice-bundle.js';
import { readVerified, verifyInvoice } from './verify-invoice.js';

const PAGE_DEFAULT = 100;
const FIRST_PAGE = { limit: PAGE_DEFAULT, offset: 0 };

@Route('v1/invoices')
@Tags('Invoices')
export class StoredLinesController extends ApiController<LineEventReadDependencies> {
  /**
   * A stored invoice with its lines, coupons and taxes. Groups split the cost of usage lines, from
   * the events behind them, and never change. With `explain` every line explains its amount, as in
   * a preview.
   * @summary Read an invoice
   * @param group_by `source` fills usage_analytics; `feature_id` and `properties.<name>` fill
   *   usage_breakdown. Several are given by naming the parameter several times.
   * @maxItems group_by 10
   * @param explain Adds to every line its explanation, with the first hundred of its windows.
   */
  @Get('{id}')
  @Extension('x-operation', {
    entity: 'invoice',
    access: 'read',
    versioned: true,
    heavyWith: ['group_by', 'explain'],
  })
  public async readInvoice(
    @Path() id: string,
    @Query() group_by?: string[],
    @Query() explain?: boolean,
  ): Promise<InvoiceDto> {
    // Absent means none: nothing is split.
    const document = await this.run(readInvoiceWithGroups, { id, groupBy: group_by ?? [] });
    tagReadVersion(this, this.request, document.header.version);
    return invoiceToDtoInTurns(document, explain === true ? FIRST_PAGE : null);
  }

  /**
   * Computes a stored invoice again, from what it was computed from and from the stored events, and
   * names every difference.
   * @summary Verify an invoice
   */
  @Get('{id}/verify')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async verifyInvoice(@Path() id: string): Promise<VerificationDto> {
    return verificationToDto(await this.run(verifyInvoice, id));
  }

  /**
   * The invoice with everything that it was computed from, in one file. `minutebook verify
   * --bundle` computes it again without any database.
   * @summary Bundle an invoice
   */
  @Get('{id}/bundle')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async bundleInvoice(@Path() id: string): Promise<InvoiceBundleDto> {
    return bundleOf(await this.run(readVerified, id));
  }

  // tsoa requires that each query parameter is an argument.
  /* eslint-disable max-params */
  /**
   * How the amount of a stored line was computed. It never changes.
   * @summary Explain a line of an invoice
   * @isInt windows_limit
   * @minimum windows_limit 1
   * @maximum windows_limit 1000
   * @isInt windows_offset
   * @minimum windows_offset 0
   * @maximum windows_offset 1000000000
   */
  @Get('{id}/line_items/{line_id}/explain')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async explainInvoiceLine(
    @Path() id: string,
    @Path('line_id') lineId: string,
    @Query() windows_limit?: number,
    @Query() windows_offset?: number,
  ): Promise<ExplanationDto> {
    const document = await this.run(readInvoice, id);
    const { line, document: found } = accepted(lineOfInvoice(document, lineId));
    // Absent means zero: the first page.
    const page = { limit: windows_limit ?? PAGE_DEFAULT, offset: windows_offset ?? 0 };
    return explanationToDto(line, found.header, page);
  }

  /**
   * The events that a stored line counts, by timestamp and id: exactly those below its watermark.
   * All pages together aggregate to `quantity`.
   * @summary List the events behind a line of an invoice
   * @param cursor `next_cursor` of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   */
  @Get('{id}/line_items/{line_id}/events')
  @Extension('x-operation', { entity: 'invoice', access: 'read', rate: 'heavy' })
  public async listInvoiceLineEvents(
    @Path() id: string,
    @Path('line_id') lineId: string,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<LineEventsDto> {
    return lineEventsToDto(
      await this.run(readStoredEvents, { id, lineId, limit: limit ?? PAGE_DEFAULT, cursor }),
    );
  }

  /* eslint-enable max-params */
}
