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
import { ApiController } from '../../edge/api-controller.js';
import { clonePlan } from './clone-plan.js';
import { archivePlan, changePlan, createPlan, readPlan, searchPlans } from './plan-operations.js';
import { expandedPlanToDto, type ExpandedPlanDto, type PlanListDto } from './plan-expansions.js';
import type {
  ChangePlanBody,
  ClonePlanBody,
  CreatePlanBody,
  SearchPlansBody,
} from '../../declarations/catalog/plan.resource.js';
import type { WriteDependencies } from '../../records/unit.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';

@Route('v1/plans')
@Tags('Plans')
export class PlansController extends ApiController<WriteDependencies> {
  /** @summary Create a plan */
  @Post()
  @Extension('x-operation', { entity: 'plan', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createPlan(@Body() body: CreatePlanBody): Promise<ExpandedPlanDto> {
    return expandedPlanToDto(this.tagged(await this.run(createPlan, body)));
  }

  /** @summary Search plans */
  @Post('search')
  @Extension('x-operation', { entity: 'plan', access: 'read' })
  public async searchPlans(@Body() body: SearchPlansBody): Promise<PlanListDto> {
    return pageToDto(await this.run(searchPlans, body), expandedPlanToDto);
  }

  /** @summary Read a plan with its prices, meters, features and entitlements */
  @Get('{id}')
  @Extension('x-operation', { entity: 'plan', access: 'read', versioned: true })
  public async readPlan(@Path() id: string): Promise<ExpandedPlanDto> {
    return expandedPlanToDto(this.matched(await this.run(readPlan, id)));
  }

  /** @summary Change a plan */
  @Put('{id}')
  @Extension('x-operation', { entity: 'plan', access: 'write', versioned: true })
  public async changePlan(
    @Path() id: string,
    @Body() body: ChangePlanBody,
  ): Promise<ExpandedPlanDto> {
    return expandedPlanToDto(this.tagged(await this.run(changePlan, this.changeOf(id, body))));
  }

  /**
   * Fails while a subscription of the plan is not cancelled.
   * @summary Archive a plan
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'plan', access: 'write' })
  public async archivePlan(@Path() id: string): Promise<MessageDto> {
    await this.run(archivePlan, id);
    return { message: `plan ${id} is archived` };
  }

  /**
   * Copies the prices that have not ended, without their lookup keys, the entitlements and
   * the credit grants.
   * @summary Clone a plan
   */
  @Post('{id}/clone')
  @Extension('x-operation', { entity: 'plan', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async clonePlan(
    @Path() id: string,
    @Body() body: ClonePlanBody,
  ): Promise<ExpandedPlanDto> {
    return expandedPlanToDto(this.tagged(await this.run(clonePlan, { id, body })));
  }
}
