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
import { clonePlan } from './clone-plan.js';
import { archivePlan, changePlan, createPlan, readPlan, searchPlans } from './plan-operations.js';
import { expandedPlanToDto, type ExpandedPlanDto, type PlanListDto } from './plan-expansions.js';
import type {
  ChangePlanBody,
  ClonePlanBody,
  CreatePlanBody,
  SearchPlansBody,
} from '../../declarations/catalog/plan.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';

@Route('v1/plans')
@Tags('Plans')
export class PlansController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a plan */
  @Post()
  @Extension('x-operation', { entity: 'plan', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createPlan(
    @Request() request: HttpRequest,
    @Body() body: CreatePlanBody,
  ): Promise<ExpandedPlanDto> {
    const plan = accepted(await createPlan(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, plan.row.version);
    return expandedPlanToDto(plan);
  }

  /** @summary Search plans */
  @Post('search')
  @Extension('x-operation', { entity: 'plan', access: 'read' })
  public async searchPlans(
    @Request() request: HttpRequest,
    @Body() body: SearchPlansBody,
  ): Promise<PlanListDto> {
    const page = accepted(await searchPlans(this.dependencies, occasionOf(request), body));
    return pageToDto(page, expandedPlanToDto);
  }

  /** @summary Read a plan with its prices, meters, features and entitlements */
  @Get('{id}')
  @Extension('x-operation', { entity: 'plan', access: 'read', versioned: true })
  public async readPlan(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedPlanDto> {
    const plan = accepted(await readPlan(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, plan.row.version);
    return expandedPlanToDto(plan);
  }

  /** @summary Change a plan */
  @Put('{id}')
  @Extension('x-operation', { entity: 'plan', access: 'write', versioned: true })
  public async changePlan(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangePlanBody,
  ): Promise<ExpandedPlanDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const plan = accepted(await changePlan(this.dependencies, occasionOf(request), change));
    tagVersion(this, plan.row.version);
    return expandedPlanToDto(plan);
  }

  /**
   * Fails while a subscription of the plan is not cancelled.
   * @summary Archive a plan
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'plan', access: 'write' })
  public async archivePlan(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archivePlan(this.dependencies, occasionOf(request), id));
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
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ClonePlanBody,
  ): Promise<ExpandedPlanDto> {
    const plan = accepted(await clonePlan(this.dependencies, occasionOf(request), { id, body }));
    this.setStatus(201);
    tagVersion(this, plan.row.version);
    return expandedPlanToDto(plan);
  }
}
