import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { assertPresent } from '../../runtime/failure.js';
import {
  archiveEntitlement,
  readEntitlement,
  searchEntitlements,
} from './entitlement-operations.js';
import { changeEntitlement } from './change-entitlement.js';
import { createEntitlements } from './create-entitlements.js';
import type { MessageDto } from '../records/record-dto.js';
import {
  expandedEntitlementToDto,
  type ChangeEntitlementBody,
  type CreateEntitlementBody,
  type CreateEntitlementsBody,
  type ExpandedEntitlementDto,
  type EntitlementListDto,
  type EntitlementsDto,
  type SearchEntitlementsBody,
} from '../declarations/entitlements/entitlement.resource.js';
import { pageToDto } from '../records/search-records.js';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import type { WriteDependencies } from '../records/unit.js';

@Route('v1/entitlements')
@Tags('Entitlements')
export class EntitlementsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * What a plan allows of a feature, or a subscription in place of its plan.
   * @summary Create an entitlement
   */
  @Post()
  @Extension('x-operation', { entity: 'entitlement', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createEntitlement(
    @Request() request: HttpRequest,
    @Body() body: CreateEntitlementBody,
  ): Promise<ExpandedEntitlementDto> {
    const [entitlement] = await this.store(request, [body], { isBulk: false });
    return assertPresent(entitlement, 'the new entitlement');
  }

  /**
   * All entitlements are stored, or none; a refusal names the index of the one it is about.
   * @summary Create entitlements
   */
  @Post('bulk')
  @Extension('x-operation', { entity: 'entitlement', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createEntitlements(
    @Request() request: HttpRequest,
    @Body() body: CreateEntitlementsBody,
  ): Promise<EntitlementsDto> {
    return { items: [...(await this.store(request, body.items, { isBulk: true }))] };
  }

  /** @summary Search entitlements */
  @Post('search')
  @Extension('x-operation', { entity: 'entitlement', access: 'read' })
  public async searchEntitlements(
    @Request() request: HttpRequest,
    @Body() body: SearchEntitlementsBody,
  ): Promise<EntitlementListDto> {
    const page = accepted(await searchEntitlements(this.dependencies, occasionOf(request), body));
    return pageToDto(page, expandedEntitlementToDto);
  }

  /** @summary Read an entitlement */
  @Get('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'read' })
  public async readEntitlement(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedEntitlementDto> {
    return expandedEntitlementToDto(
      accepted(await readEntitlement(this.dependencies, occasionOf(request), id)),
    );
  }

  /**
   * The change counts for every invoice that is computed from now on.
   * @summary Change an entitlement
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'write' })
  public async changeEntitlement(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeEntitlementBody,
  ): Promise<ExpandedEntitlementDto> {
    const change = { id, body };
    return expandedEntitlementToDto(
      accepted(await changeEntitlement(this.dependencies, occasionOf(request), change)),
    );
  }

  /**
   * An archived entitlement counts no more.
   * @summary Archive an entitlement
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'write' })
  public async archiveEntitlement(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archiveEntitlement(this.dependencies, occasionOf(request), id));
    return { message: `entitlement ${id} is archived` };
  }

  private async store(
    request: HttpRequest,
    items: readonly CreateEntitlementBody[],
    { isBulk }: { readonly isBulk: boolean },
  ): Promise<readonly ExpandedEntitlementDto[]> {
    const stored = await createEntitlements(this.dependencies, occasionOf(request), {
      items,
      isBulk,
    });
    const entitlements = accepted(stored);
    this.setStatus(201);
    return entitlements.map(expandedEntitlementToDto);
  }
}
