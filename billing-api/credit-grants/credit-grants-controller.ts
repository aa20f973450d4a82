import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
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
export class CreditGrantsController extends ApiController<WriteDependencies> {
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
  public async createCreditGrant(@Body() body: CreateCreditGrantBody): Promise<CreditGrantDto> {
    return creditGrantToDto(this.tagged(await this.run(createCreditGrant, body)));
  }

  /** @summary Read a credit grant */
  @Get('creditgrants/{id}')
  @Tags('Credit grants')
  @Extension('x-operation', { entity: 'credit_grant', access: 'read', versioned: true })
  public async readCreditGrant(@Path() id: string): Promise<CreditGrantDto> {
    return creditGrantToDto(this.matched(await this.run(readCreditGrantById, id)));
  }

  /** @summary Change a credit grant */
  @Put('creditgrants/{id}')
  @Tags('Credit grants')
  @Extension('x-operation', { entity: 'credit_grant', access: 'write', versioned: true })
  public async changeCreditGrant(
    @Path() id: string,
    @Body() body: ChangeCreditGrantBody,
  ): Promise<CreditGrantDto> {
    return creditGrantToDto(
      this.tagged(await this.run(changeCreditGrant, this.changeOf(id, body))),
    );
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
    @Path() id: string,
    @Body() body?: EndCreditGrantBody,
  ): Promise<MessageDto> {
    const grant = await this.run(removeCreditGrant, { id, body: body ?? {} });
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
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<CreditGrantListDto> {
    return this.list({ id, kind: 'plan' }, query);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the credit grants of an addon
   */
  @Get('addons/{id}/creditgrants')
  @Tags('Addons')
  @Extension('x-operation', { entity: 'addon', access: 'read' })
  public listAddonCreditGrants(
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<CreditGrantListDto> {
    return this.list({ id, kind: 'addon' }, query);
  }

  private async list(
    owner: Pick<Parameters<typeof listCreditGrantsOf>[2], 'id' | 'kind'>,
    query: ListQuery,
  ): Promise<CreditGrantListDto> {
    return pageToDto(
      await this.run(listCreditGrantsOf, { ...listRequestFrom(query), ...owner }),
      creditGrantToDto,
    );
  }
}
