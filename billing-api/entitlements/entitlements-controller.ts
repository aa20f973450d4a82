import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
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
import { ApiController } from '../edge/api-controller.js';
import type { WriteDependencies } from '../records/unit.js';

@Route('v1/entitlements')
@Tags('Entitlements')
export class EntitlementsController extends ApiController<WriteDependencies> {
  /**
   * What a plan allows of a feature, or a subscription in place of its plan.
   * @summary Create an entitlement
   */
  @Post()
  @Extension('x-operation', { entity: 'entitlement', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createEntitlement(
    @Body() body: CreateEntitlementBody,
  ): Promise<ExpandedEntitlementDto> {
    const [entitlement] = await this.store([body], { isBulk: false });
    return assertPresent(entitlement, 'the new entitlement');
  }

  /**
   * All entitlements are stored, or none; a refusal names the index of the one it is about.
   * @summary Create entitlements
   */
  @Post('bulk')
  @Extension('x-operation', { entity: 'entitlement', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createEntitlements(@Body() body: CreateEntitlementsBody): Promise<EntitlementsDto> {
    return { items: [...(await this.store(body.items, { isBulk: true }))] };
  }

  /** @summary Search entitlements */
  @Post('search')
  @Extension('x-operation', { entity: 'entitlement', access: 'read' })
  public async searchEntitlements(
    @Body() body: SearchEntitlementsBody,
  ): Promise<EntitlementListDto> {
    return pageToDto(await this.run(searchEntitlements, body), expandedEntitlementToDto);
  }

  /** @summary Read an entitlement */
  @Get('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'read' })
  public async readEntitlement(@Path() id: string): Promise<ExpandedEntitlementDto> {
    return expandedEntitlementToDto(await this.run(readEntitlement, id));
  }

  /**
   * The change counts for every invoice that is computed from now on.
   * @summary Change an entitlement
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'write' })
  public async changeEntitlement(
    @Path() id: string,
    @Body() body: ChangeEntitlementBody,
  ): Promise<ExpandedEntitlementDto> {
    return expandedEntitlementToDto(await this.run(changeEntitlement, { id, body }));
  }

  /**
   * An archived entitlement counts no more.
   * @summary Archive an entitlement
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'write' })
  public async archiveEntitlement(@Path() id: string): Promise<MessageDto> {
    await this.run(archiveEntitlement, id);
    return { message: `entitlement ${id} is archived` };
  }

  private async store(
    items: readonly CreateEntitlementBody[],
    { isBulk }: { readonly isBulk: boolean },
  ): Promise<readonly ExpandedEntitlementDto[]> {
    const entitlements = await this.run(createEntitlements, { items, isBulk });
    return entitlements.map(expandedEntitlementToDto);
  }
}
