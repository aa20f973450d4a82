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
import { archiveEntitlement, changeEntitlement } from './change-entitlement.js';
import { createEntitlements } from './create-entitlements.js';
import type { EntitlementRequest } from './entitlement-request.js';
import { readEntitlement, readSurroundings, searchEntitlements } from './read-entitlements.js';
import type { MessageDto } from '../records/record-dto.js';
import {
  entitlementToDto,
  type ChangeEntitlementBody,
  type CreateEntitlementBody,
  type CreateEntitlementsBody,
  type EntitlementDto,
  type EntitlementListDto,
  type EntitlementsDto,
  type SearchEntitlementsBody,
} from './entitlement-dto.js';
import { accepted } from '../edge/failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';

@Route('v1/entitlements')
@Tags('Entitlements')
export class EntitlementsController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
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
  ): Promise<EntitlementDto> {
    const [entitlement] = await this.store(request, { items: [body], isBulk: false });
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
    return { items: [...(await this.store(request, { items: body.items, isBulk: true }))] };
  }

  /** @summary Search entitlements */
  @Post('search')
  @Extension('x-operation', { entity: 'entitlement', access: 'read' })
  public async searchEntitlements(
    @Request() request: HttpRequest,
    @Body() body: SearchEntitlementsBody,
  ): Promise<EntitlementListDto> {
    const page = accepted(await searchEntitlements(this.dependencies, callerOf(request), body));
    return {
      items: page.rows.map((row) => entitlementToDto(row, page.surroundings)),
      pagination: { limit: page.command.limit, offset: page.command.offset, total: page.total },
    };
  }

  /** @summary Read an entitlement */
  @Get('{id}')
  @Extension('x-operation', { entity: 'entitlement', access: 'read' })
  public async readEntitlement(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<EntitlementDto> {
    const found = accepted(await readEntitlement(this.dependencies, callerOf(request), id));
    return entitlementToDto(found.row, found.surroundings);
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
  ): Promise<EntitlementDto> {
    const caller = callerOf(request);
    const wish = { id, change: body };
    const row = accepted(await changeEntitlement(this.dependencies, caller, wish));
    return entitlementToDto(row, await readSurroundings(this.dependencies, caller, [row]));
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
    accepted(await archiveEntitlement(this.dependencies, callerOf(request), id));
    return { message: `entitlement ${id} is archived` };
  }

  private async store(
    request: HttpRequest,
    wish: { readonly items: readonly EntitlementRequest[]; readonly isBulk: boolean },
  ): Promise<readonly EntitlementDto[]> {
    const caller = callerOf(request);
    const rows = accepted(await createEntitlements(this.dependencies, caller, wish));
    const surroundings = await readSurroundings(this.dependencies, caller, rows);
    this.setStatus(201);
    return rows.map((row) => entitlementToDto(row, surroundings));
  }
}
