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
import type { MessageDto } from '../records/record-dto.js';
import { pageToDto } from '../records/search-records.js';
import { changeCreditGrant, removeCreditGrant } from './change-credit-grant.js';
import {
  createCreditGrant,
  listCreditGrantsOf,
  readCreditGrantById,
} from './credit-grant-operations.js';
import {
  creditGrantToDto,
  type ChangeCreditGrantBody,
  type CreateCreditGrantBody,
  type CreditGrantDto,
  type CreditGrantListDto,
  type EndCreditGrantBody,
} from '../declarations/credit-grants/credit-grant.resource.js';

@Route('v1')
export class CreditGrantsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * Those of a plan or an addon are copied to every subscription that is made with it from then on.
   * @summary Create a credit grant
   */
  @Post('creditgrants')
  @Tags('Credit grants')
  @Extension('x-operation', {
    entity: 'credit_grant',
    access: 'write',
    notFound: true,
    versioned: true,
  })
  @SuccessResponse(201, 'Created')
  public async createCreditGrant(
    @Request() request: HttpRequest,
    @Body() body: CreateCreditGrantBody,
  ): Promise<CreditGrantDto> {
    const grant = accepted(await createCreditGrant(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, grant.version);
    return creditGrantToDto(grant);
  }

  /** @summary Read a credit grant */
  @Get('creditgrants/{id}')
  @Tags('Credit grants')
  @Extension('x-operation', { entity: 'credit_grant', access: 'read', versioned: true })
  public async readCreditGrant(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CreditGrantDto> {
    const grant = accepted(await readCreditGrantById(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, grant.version);
    return creditGrantToDto(grant);
  }

  /** @summary Change a credit grant */
  @Put('creditgrants/{id}')
  @Tags('Credit grants')
  @Extension('x-operation', { entity: 'credit_grant', access: 'write', versioned: true })
  public async changeCreditGrant(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeCreditGrantBody,
  ): Promise<CreditGrantDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const grant = accepted(await changeCreditGrant(this.dependencies, occasionOf(request), change));
    tagVersion(this, grant.version);
    return creditGrantToDto(grant);
  }

  /**
   * That of a plan or an addon is archived; what subscriptions have of it stays. That of a
   * subscription ends, at `end_date` or now.
   * @summary Archive or end a credit grant
   */
  @Delete('creditgrants/{id}')
  @Tags('Credit grants')
  @Extension('x-operation', { entity: 'credit_grant', access: 'write' })
  public async removeCreditGrant(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body?: EndCreditGrantBody,
  ): Promise<MessageDto> {
    const removal = { id, body: body ?? {} };
    const grant = accepted(
      await removeCreditGrant(this.dependencies, occasionOf(request), removal),
    );
    const { status, end_date: end } = creditGrantToDto(grant);
    const what = status === 'published' ? `ends at ${end}` : 'is archived';
    return { message: `credit grant ${id} ${what}` };
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the credit grants of a plan
   */
  @Get('plans/{id}/creditgrants')
  @Tags('Plans')
  @Extension('x-operation', { entity: 'plan', access: 'read' })
  public listPlanCreditGrants(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<CreditGrantListDto> {
    return this.list(request, { id, kind: 'plan' }, query);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the credit grants of an addon
   */
  @Get('addons/{id}/creditgrants')
  @Tags('Addons')
  @Extension('x-operation', { entity: 'addon', access: 'read' })
  public listAddonCreditGrants(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<CreditGrantListDto> {
    return this.list(request, { id, kind: 'addon' }, query);
  }

  private async list(
    request: HttpRequest,
    owner: Pick<Parameters<typeof listCreditGrantsOf>[2], 'id' | 'kind'>,
    query: ListQuery,
  ): Promise<CreditGrantListDto> {
    const list = { ...listRequestFrom(query), ...owner };
    const page = accepted(await listCreditGrantsOf(this.dependencies, occasionOf(request), list));
    return pageToDto(page, creditGrantToDto);
  }
}
