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
import { assertPresent } from '../../../runtime/failure.js';
import { createPrices } from './create-prices.js';
import { priceCommandFrom, priceCommandsFrom, type PriceCommand } from './price-command.js';
import { readPrice, readSurroundings, searchPrices } from './read-prices.js';
import {
  priceToDto,
  type CreatePriceBody,
  type CreatePricesBody,
  type PriceDto,
  type PriceListDto,
  type PricesDto,
  type SearchPricesBody,
} from './price-dto.js';
import { accepted } from '../../edge/failure.js';
import { callerOf } from '../../edge/request-context.js';
import type { ControllerDependencies } from '../../ioc.js';

@Route('v1/prices')
@Tags('Prices')
export class PricesController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
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
  ): Promise<PriceDto> {
    const command = accepted(priceCommandFrom(body));
    const [price] = await this.store(request, { commands: [command], isBulk: false });
    return assertPresent(price, 'the new price');
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
    const commands = accepted(priceCommandsFrom(body.items));
    return { items: [...(await this.store(request, { commands, isBulk: true }))] };
  }

  /** @summary Search prices */
  @Post('search')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async searchPrices(
    @Request() request: HttpRequest,
    @Body() body: SearchPricesBody,
  ): Promise<PriceListDto> {
    const page = accepted(await searchPrices(this.dependencies, callerOf(request), body));
    return {
      items: page.rows.map((row) => priceToDto(row, page.surroundings)),
      pagination: { limit: page.command.limit, offset: page.command.offset, total: page.total },
    };
  }

  /** @summary Read a price by its lookup key */
  @Get('lookup/{lookup_key}')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async readPriceByLookupKey(
    @Request() request: HttpRequest,
    @Path() lookup_key: string,
  ): Promise<PriceDto> {
    const reference = { lookupKey: lookup_key };
    const found = accepted(await readPrice(this.dependencies, callerOf(request), reference));
    return priceToDto(found.price, found.surroundings);
  }

  /** @summary Read a price */
  @Get('{id}')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async readPrice(@Request() request: HttpRequest, @Path() id: string): Promise<PriceDto> {
    const found = accepted(await readPrice(this.dependencies, callerOf(request), { id }));
    return priceToDto(found.price, found.surroundings);
  }

  private async store(
    request: HttpRequest,
    prices: { readonly commands: readonly PriceCommand[]; readonly isBulk: boolean },
  ): Promise<readonly PriceDto[]> {
    const caller = callerOf(request);
    const rows = accepted(await createPrices(this.dependencies, caller, prices));
    const surroundings = await readSurroundings(this.dependencies, caller, rows);
    this.setStatus(201);
    return rows.map((row) => priceToDto(row, surroundings));
  }
}
