import {
  Body,
  Controller,
  Get,
  Path,
  Post,
  Request,
  Response,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { createPlan } from '../usecases/create-plan.js';
import { readPlan, searchPlans } from '../usecases/read-plans.js';
import type { ErrorDto } from './dto/common.js';
import { planContentsToDto } from './dto/plan-contents.js';
import {
  planToDto,
  type CreatePlanBody,
  type PlanDto,
  type PlanListDto,
  type SearchPlansBody,
} from './dto/plan-dto.js';
import { accepted } from './edge/failure.js';
import { callerOf } from './edge/request-context.js';
import type { ControllerDependencies } from './ioc.js';

@Route('v1/plans')
@Tags('Plans')
@Response<ErrorDto>(400, 'The request breaks a rule')
@Response<ErrorDto>(401, 'Credentials are missing or unknown')
@Response<ErrorDto>(403, 'The key may not do this')
@Response<ErrorDto>(404, 'A record that the request names does not exist')
@Response<ErrorDto>(409, 'A unique member or the Idempotency-Key is taken')
@Response<ErrorDto>(413, 'The body is larger than 2 MiB')
@Response<ErrorDto>(429, 'Too many requests')
@Response<ErrorDto>(500, 'Unforeseen failure')
@Response<ErrorDto>(503, 'A database does not answer')
export class PlansController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /** @summary Create a plan */
  @Post()
  @SuccessResponse(201, 'Created')
  public async createPlan(
    @Request() request: HttpRequest,
    @Body() body: CreatePlanBody,
  ): Promise<PlanDto> {
    const plan = accepted(await createPlan(this.dependencies, callerOf(request), body));
    this.setStatus(201);
    const nothing = { prices: [], entitlements: [], credit_grants: [], meters: [], features: [] };
    return planToDto(plan, nothing);
  }

  /** @summary Search plans */
  @Post('search')
  public async searchPlans(
    @Request() request: HttpRequest,
    @Body() body: SearchPlansBody,
  ): Promise<PlanListDto> {
    const page = accepted(await searchPlans(this.dependencies, callerOf(request), body));
    const { expand } = page.command;
    return {
      items: page.rows.map((row) => planToDto(row, planContentsToDto(row, page.contents, expand))),
      pagination: { limit: page.command.limit, offset: page.command.offset, total: page.total },
    };
  }

  /** @summary Read a plan with its prices, meters and features */
  @Get('{id}')
  public async readPlan(@Request() request: HttpRequest, @Path() id: string): Promise<PlanDto> {
    const found = accepted(await readPlan(this.dependencies, callerOf(request), id));
    return planToDto(found.plan, planContentsToDto(found.plan, found.contents, 'all'));
  }
}
