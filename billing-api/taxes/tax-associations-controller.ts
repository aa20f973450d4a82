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
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../edge/versions.js';
import type { WriteDependencies } from '../records/unit.js';
import { pageToDto } from '../records/search-records.js';
import {
  archiveTaxAssociation,
  changeTaxAssociation,
  createTaxAssociation,
  listTaxAssociations,
  readTaxAssociation,
  type TaxAssociationsQuery,
} from './tax-association-operations.js';
import {
  taxAssociationToDto,
  type ChangeTaxAssociationBody,
  type CreateTaxAssociationBody,
  type TaxAssociationDto,
  type TaxAssociationListDto,
  type ArchivedTaxAssociationDto,
} from '../declarations/taxes/tax-association.resource.js';

@Route('v1/taxes/associations')
@Tags('Taxes')
export class TaxAssociationsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a tax association */
  @Post()
  @Extension('x-operation', { entity: 'tax', access: 'write', versioned: true, notFound: true })
  public async createTaxAssociation(
    @Request() request: HttpRequest,
    @Body() body: CreateTaxAssociationBody,
  ): Promise<TaxAssociationDto> {
    const created = accepted(
      await createTaxAssociation(this.dependencies, occasionOf(request), body),
    );
    tagVersion(this, created.association.version);
    return taxAssociationToDto(created);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List tax associations
   */
  @Get()
  @Extension('x-operation', { entity: 'tax', access: 'read' })
  public async listTaxAssociations(
    @Request() request: HttpRequest,
    @Queries() query: TaxAssociationsQuery,
  ): Promise<TaxAssociationListDto> {
    const page = accepted(await listTaxAssociations(this.dependencies, occasionOf(request), query));
    return pageToDto(page, taxAssociationToDto);
  }

  /** @summary Read a tax association */
  @Get('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'read', versioned: true })
  public async readTaxAssociation(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<TaxAssociationDto> {
    const found = accepted(await readTaxAssociation(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, found.association.version);
    return taxAssociationToDto(found);
  }

  /** @summary Change a tax association */
  @Put('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'write', versioned: true })
  public async changeTaxAssociation(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeTaxAssociationBody,
  ): Promise<TaxAssociationDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const changed = accepted(
      await changeTaxAssociation(this.dependencies, occasionOf(request), change),
    );
    tagVersion(this, changed.association.version);
    return taxAssociationToDto(changed);
  }

  /**
   * It taxes nothing any more.
   * @summary Archive a tax association
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'write' })
  public async archiveTaxAssociation(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ArchivedTaxAssociationDto> {
    const removed = accepted(
      await archiveTaxAssociation(this.dependencies, occasionOf(request), id),
    );
    return { ...taxAssociationToDto(removed), message: `tax association ${id} is archived` };
  }
}
