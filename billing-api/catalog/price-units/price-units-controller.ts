import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import {
  changePriceUnit,
  createPriceUnit,
  readPriceUnit,
  readPriceUnitByCode,
  removePriceUnit,
  searchPriceUnits,
} from './price-unit-operations.js';
import {
  priceUnitToDto,
  type ChangePriceUnitBody,
  type CreatePriceUnitBody,
  type PriceUnitDto,
  type PriceUnitListDto,
  type SearchPriceUnitsBody,
} from '../../declarations/catalog/price-unit.resource.js';

/** Named first in .config/tsoa.json, or else GET /prices/{id} would take /prices/units. */
@Route('v1/prices/units')
@Tags('Price units')
export class PriceUnitsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a price unit */
  @Post()
  @Extension('x-operation', { entity: 'price', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createPriceUnit(
    @Request() request: HttpRequest,
    @Body() body: CreatePriceUnitBody,
  ): Promise<PriceUnitDto> {
    const unit = accepted(await createPriceUnit(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, unit.version);
    return priceUnitToDto(unit);
  }

  /** @summary Search price units */
  @Post('search')
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async searchPriceUnits(
    @Request() request: HttpRequest,
    @Body() body: SearchPriceUnitsBody,
  ): Promise<PriceUnitListDto> {
    const page = accepted(await searchPriceUnits(this.dependencies, occasionOf(request), body));
    return pageToDto(page, priceUnitToDto);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List price units
   */
  @Get()
  @Extension('x-operation', { entity: 'price', access: 'read' })
  public async listPriceUnits(
    @Request() request: HttpRequest,
    @Queries() query: ListQuery,
  ): Promise<PriceUnitListDto> {
    const list = listRequestFrom(query);
    const page = accepted(await searchPriceUnits(this.dependencies, occasionOf(request), list));
    return pageToDto(page, priceUnitToDto);
  }

  /** @summary Read a price unit by its code */
  @Get('code/{code}')
  @Extension('x-operation', { entity: 'price', access: 'read', versioned: true })
  public async readPriceUnitByCode(
    @Request() request: HttpRequest,
    @Path() code: string,
  ): Promise<PriceUnitDto> {
    const unit = accepted(await readPriceUnitByCode(this.dependencies, occasionOf(request), code));
    tagReadVersion(this, request, unit.version);
    return priceUnitToDto(unit);
  }

  /** @summary Read a price unit */
  @Get('{id}')
  @Extension('x-operation', { entity: 'price', access: 'read', versioned: true })
  public async readPriceUnit(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<PriceUnitDto> {
    const unit = accepted(await readPriceUnit(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, unit.version);
    return priceUnitToDto(unit);
  }

  /** @summary Change a price unit */
  @Put('{id}')
  @Extension('x-operation', { entity: 'price', access: 'write', versioned: true })
  public async changePriceUnit(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangePriceUnitBody,
  ): Promise<PriceUnitDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const unit = accepted(await changePriceUnit(this.dependencies, occasionOf(request), change));
    tagVersion(this, unit.version);
    return priceUnitToDto(unit);
  }

  /**
   * Fails when any price refers to the unit, also one that has ended.
   * @summary Archive a price unit
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'price', access: 'write' })
  public async removePriceUnit(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await removePriceUnit(this.dependencies, occasionOf(request), id));
    return { message: `price unit ${id} is archived` };
  }
}
