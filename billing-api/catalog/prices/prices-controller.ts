import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
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
export class PricesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * Members that are left out follow from those that are given: a price with `meter_id` is of type
   * USAGE, one with `tiers` is TIERED, one with `transform_quantity` is PACKAGE.
   * @summary Create a price
   */
  @Post()
  @Extension('x-operation', { entity: 'price', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createPrice(
    @Request() request: HttpRequest,
    @Body() body: CreatePriceBody,
  ): Promise<ExpandedPriceDto> {
    const price = accepted(await createPrice(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    return expandedPriceToDto(price);
  }

  /**
   * All prices are stored, or none; a refusal names the index of the price it is about.
   * @summary Create prices
   */
  @Post('bulk')
  @Extension('x-operation', { entity: 'price', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createPrices(
    @Request() request: HttpRequest,
    @Body() body: CreatePricesBody,
  ): Promise<PricesDto> {
    const prices = { items: body.items, isBulk: true };
    const created = accepted(await createPrices(this.dependencies, occasionOf(request), prices));
    this.setStatus(201);
    return { items: created.map(expandedPriceToDto) };
  }

  /** @summary Search prices */
  @Post('search')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async searchPrices(
    @Request() request: HttpRequest,
    @Body() body: SearchPricesBody,
  ): Promise<PriceListDto> {
    const page = accepted(await searchPrices(this.dependencies, occasionOf(request), body));
    return pageToDto(page, expandedPriceToDto);
  }

  /** @summary Read a price by its lookup key */
  @Get('lookup/{lookup_key}')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async readPriceByLookupKey(
    @Request() request: HttpRequest,
    @Path() lookup_key: string,
  ): Promise<ExpandedPriceDto> {
    const reference = { lookupKey: lookup_key };
    const price = await readPrice(this.dependencies, occasionOf(request), reference);
    return expandedPriceToDto(accepted(price));
  }

  /** @summary Read a price */
  @Get('{id}')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async readPrice(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedPriceDto> {
    const price = await readPrice(this.dependencies, occasionOf(request), { id });
    return expandedPriceToDto(accepted(price));
  }
}
