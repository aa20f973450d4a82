import { Body, Delete, Extension, Get, Path, Post, Put, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { tagReadVersion, tagVersion } from '../edge/versions.js';
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
export class TaxAssociationsController extends ApiController<WriteDependencies> {
  /** @summary Create a tax association */
  @Post()
  @Extension('x-operation', { entity: 'tax', access: 'write', versioned: true, notFound: true })
  public async createTaxAssociation(
    @Body() body: CreateTaxAssociationBody,
  ): Promise<TaxAssociationDto> {
    const created = await this.run(createTaxAssociation, body);
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
    @Queries() query: TaxAssociationsQuery,
  ): Promise<TaxAssociationListDto> {
    return pageToDto(await this.run(listTaxAssociations, query), taxAssociationToDto);
  }

  /** @summary Read a tax association */
  @Get('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'read', versioned: true })
  public async readTaxAssociation(@Path() id: string): Promise<TaxAssociationDto> {
    const found = await this.run(readTaxAssociation, id);
    tagReadVersion(this, this.request, found.association.version);
    return taxAssociationToDto(found);
  }

  /** @summary Change a tax association */
  @Put('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'write', versioned: true })
  public async changeTaxAssociation(
    @Path() id: string,
    @Body() body: ChangeTaxAssociationBody,
  ): Promise<TaxAssociationDto> {
    const changed = await this.run(changeTaxAssociation, this.changeOf(id, body));
    tagVersion(this, changed.association.version);
    return taxAssociationToDto(changed);
  }

  /**
   * It taxes nothing any more.
   * @summary Archive a tax association
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'tax', access: 'write' })
  public async archiveTaxAssociation(@Path() id: string): Promise<ArchivedTaxAssociationDto> {
    const removed = await this.run(archiveTaxAssociation, id);
    return { ...taxAssociationToDto(removed), message: `tax association ${id} is archived` };
  }
}
