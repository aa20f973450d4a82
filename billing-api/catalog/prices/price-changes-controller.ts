import {
  Body,
  Controller,
  Delete,
  Extension,
  Path,
  Put,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import { instantToDto, type MessageDto } from '../../records/record-dto.js';
import { changePrice } from './change-price.js';
import { removePrice } from './end-price.js';
import { expandedPriceToDto } from './expand-prices.js';
import type { ChangePriceBody, EndPriceBody } from '../../declarations/catalog/price-bodies.js';
import type { ExpandedPriceDto } from './price-expansions.js';

/** How prices change and end (docs/domain.md 9.6). */
@Route('v1/prices')
@Tags('Prices')
export class PriceChangesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * What a price charges is changed by a successor: the price ends, and subscriptions that have it
   * keep it. Everything else is changed in place.
   * @summary Change or replace a price
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'price', access: 'write', notFound: true })
  public async changePrice(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangePriceBody,
  ): Promise<ExpandedPriceDto> {
    const change = { id, body };
    const price = accepted(await changePrice(this.dependencies, occasionOf(request), change));
    return expandedPriceToDto(price);
  }

  /**
   * The price stays, with an end; subscriptions that have it keep it.
   * @summary End a price
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'price', access: 'write' })
  public async removePrice(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body?: EndPriceBody,
  ): Promise<MessageDto> {
    const removal = { id, body: body ?? {} };
    const price = accepted(await removePrice(this.dependencies, occasionOf(request), removal));
    return { message: `price ${id} ends at ${instantToDto(price.end_date)}` };
  }
}
