import { Body, Delete, Extension, Path, Put, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
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
export class PriceChangesController extends ApiController<WriteDependencies> {
  /**
   * What a price charges is changed by a successor: the price ends, and subscriptions that have it
   * keep it. Everything else is changed in place.
   * @summary Change or replace a price
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'price', access: 'write', notFound: true })
  public async changePrice(
    @Path() id: string,
    @Body() body: ChangePriceBody,
  ): Promise<ExpandedPriceDto> {
    return expandedPriceToDto(await this.run(changePrice, { id, body }));
  }

  /**
   * The price stays, with an end; subscriptions that have it keep it.
   * @summary End a price
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'price', access: 'write' })
  public async removePrice(@Path() id: string, @Body() body?: EndPriceBody): Promise<MessageDto> {
    const price = await this.run(removePrice, { id, body: body ?? {} });
    return { message: `price ${id} ends at ${instantToDto(price.end_date)}` };
  }
}
