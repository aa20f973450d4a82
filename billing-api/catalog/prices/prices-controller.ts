import { Body, Extension, Get, Path, Post, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { WriteDependencies } from '../../records/unit.js';
import { expandedPriceToDto } from './expand-prices.js';
import type { ExpandedPriceDto, PriceListDto, PricesDto } from './price-expansions.js';
import { createPrice, createPrices, readPrice } from './price-operations.js';
import { searchPrices } from './search-prices.js';
import { pageToDto } from '../../records/search-records.js';
import type { SearchPricesBody } from './price-search.js';
import type { CreatePriceBody } from '../../declarations/catalog/price-bodies.js';

export interface CreatePricesBody {
  /**
   * All of them are stored, or none.
   * @minItems 1
   * @maxItems 100
   */
  items: CreatePriceBody[];
}

@Route('v1/prices')
@Tags('Prices')
export class PricesController extends ApiController<WriteDependencies> {
  /**
   * Members that are left out follow from those that are given: a price with `meter_id` is of type
   * USAGE, one with `tiers` is TIERED, one with `transform_quantity` is PACKAGE.
   * @summary Create a price
   */
  @Post()
  @Extension('x-operation', { entity: 'price', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createPrice(@Body() body: CreatePriceBody): Promise<ExpandedPriceDto> {
    return expandedPriceToDto(await this.run(createPrice, body));
  }

  /**
   * All prices are stored, or none; a refusal names the index of the price it is about.
   * @summary Create prices
   */
  @Post('bulk')
  @Extension('x-operation', { entity: 'price', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createPrices(@Body() body: CreatePricesBody): Promise<PricesDto> {
    const created = await this.run(createPrices, { items: body.items, isBulk: true });
    return { items: created.map(expandedPriceToDto) };
  }

  /** @summary Search prices */
  @Post('search')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async searchPrices(@Body() body: SearchPricesBody): Promise<PriceListDto> {
    return pageToDto(await this.run(searchPrices, body), expandedPriceToDto);
  }

  /** @summary Read a price by its lookup key */
  @Get('lookup/{lookup_key}')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async readPriceByLookupKey(@Path() lookup_key: string): Promise<ExpandedPriceDto> {
    return expandedPriceToDto(await this.run(readPrice, { lookupKey: lookup_key }));
  }

  /** @summary Read a price */
  @Get('{id}')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async readPrice(@Path() id: string): Promise<ExpandedPriceDto> {
    return expandedPriceToDto(await this.run(readPrice, { id }));
  }
}
