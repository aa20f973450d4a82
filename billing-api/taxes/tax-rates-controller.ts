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
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../edge/versions.js';
import type { WriteDependencies } from '../records/unit.js';
import { listRequestFrom, type ListQuery } from '../records/list-request.js';
import { pageToDto } from '../records/search-records.js';
import {
  archiveTaxRate,
  changeTaxRate,
  createTaxRate,
  listTaxRates,
  readTaxRate,
} from './tax-rate-operations.js';
import {
  taxRateToDto,
  type ChangeTaxRateBody,
  type CreateTaxRateBody,
  type TaxRateDto,
  type TaxRateListDto,
} from '../declarations/taxes/tax-rate.resource.js';

@Route('v1/taxes/rates')
@Tags('Taxes')
export class TaxRatesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a tax rate */
  @Post()
  @Extension('x-operation', { entity: 'tax', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createTaxRate(
    @Request() request: HttpRequest,
    @Body() body: CreateTaxRateBody,
  ): Promise<TaxRateDto> {
    const created = accepted(await createTaxRate(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, created.version);
    return taxRateToDto(created);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List tax rates
   */
  @Get()
  @Extension('x-operation', { entity: 'tax', access: 'read' })
  public async listTaxRates(
    @Request() request: HttpRequest,
    @Queries() query: ListQuery,
  ): Promise<TaxRateListDto> {
    const list = listRequestFrom(query);
    const page = accepted(await listTaxRates(this.dependencies, occasionOf(request), list));
    return pageToDto(page, taxRateToDto);
  }

  /** @summary Read a tax rate */
  @Get('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'read', versioned: true })
  public async readTaxRate(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<TaxRateDto> {
    const found = accepted(await readTaxRate(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, found.version);
    return taxRateToDto(found);
  }

  /** @summary Change a tax rate */
  @Put('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'write', versioned: true })
  public async changeTaxRate(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeTaxRateBody,
  ): Promise<TaxRateDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const changed = accepted(await changeTaxRate(this.dependencies, occasionOf(request), change));
    tagVersion(this, changed.version);
    return taxRateToDto(changed);
  }

  /**
   * Fails while anything is associated with the rate.
   * @summary Archive a tax rate
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'write' })
  @SuccessResponse(204, 'Archived')
  public async archiveTaxRate(@Request() request: HttpRequest, @Path() id: string): Promise<void> {
    accepted(await archiveTaxRate(this.dependencies, occasionOf(request), id));
  }
}
