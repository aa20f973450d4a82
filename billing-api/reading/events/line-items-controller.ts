import { Extension, Get, Path, Produces, Query, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { assertPresent } from '../../../runtime/failure.js';
import { readLineEvents, type LineEventReadDependencies } from './read-line-events.js';
import type { DateTime } from '../../records/record-dto.js';
import { lineEventsToCsv, lineEventsToDto, type LineEventsDto } from './line-events-dto.js';

const LIMIT_DEFAULT = 100;
const CSV_LIMIT_DEFAULT = 1_000;

@Route('v1/subscriptions/lineitems')
@Tags('Subscriptions')
export class LineItemsController extends ApiController<LineEventReadDependencies> {
  // tsoa requires that each query parameter is an argument.
  /* eslint-disable max-params */
  /**
   * The events that an invoice of the period counts on this line, by timestamp and id. All pages
   * together aggregate to `quantity`, which is what is used before any allowance.
   * @summary List the events behind a usage line
   * @param period_start The current billing period when absent, as in an invoice preview.
   * @param cursor `next_cursor` of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   */
  @Get('{id}/events')
  @Extension('x-operation', { entity: 'subscription', access: 'read', rate: 'heavy' })
  public async listLineEvents(
    @Path() id: string,
    @Query() period_start?: DateTime,
    @Query() period_end?: DateTime,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<LineEventsDto> {
    const query = { id, period_start, period_end, limit: limit ?? LIMIT_DEFAULT, cursor };
    return lineEventsToDto(await this.run(readLineEvents, query));
  }

  /**
   * The same as CSV with a header line. `X-Next-Cursor` is the `cursor` of the next page, encoded
   * for a URL; the last page has none.
   * @summary Download the events behind a usage line
   * @param period_start The current billing period when absent, as in an invoice preview.
   * @param cursor `X-Next-Cursor` of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 10000
   */
  @Get('{id}/events.csv')
  @Extension('x-operation', { entity: 'subscription', access: 'read', rate: 'heavy' })
  @Produces('text/csv')
  public async downloadLineEvents(
    @Path() id: string,
    @Query() period_start?: DateTime,
    @Query() period_end?: DateTime,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<string> {
    const query = { id, period_start, period_end, limit: limit ?? CSV_LIMIT_DEFAULT, cursor };
    const page = await this.run(readLineEvents, query);
    const text = lineEventsToCsv(page);
    // Sent here: the generated routes would make JSON of it.
    const response = assertPresent(this.request.res, 'the response of a request');
    if (page.nextCursor !== null)
      response.set('X-Next-Cursor', encodeURIComponent(page.nextCursor));
    response.status(200).type('text/csv').send(text);
    return text;
  }

  /* eslint-enable max-params */
}
