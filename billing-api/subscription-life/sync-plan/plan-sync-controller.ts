import {
  Controller,
  Extension,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { startedWorkflowToDto } from '../../declarations/platform/workflow.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import { startPlanSync } from './start-plan-sync.js';

/** A sync of the subscriptions of a plan that has begun. */
export interface StartedPlanSyncDto {
  plan_id: string;
  message: string;
  run_id: string;
  /** Poll GET /workflows/{workflow_id} until it is not Running any more. */
  workflow_id: string;
}

@Route('v1/plans')
@Tags('Plans')
export class PlanSyncController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * Gives the subscriptions of a plan its present prices: line items whose price has ended end, and
   * live prices that are missing get one. Lines with a price of their own stay. It is done after
   * the answer.
   * @summary Sync the subscriptions of a plan
   */
  @Post('{id}/sync/subscriptions')
  @Extension('x-operation', { entity: 'plan', access: 'write' })
  @SuccessResponse(200, 'OK')
  public async syncPlanSubscriptions(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<StartedPlanSyncDto> {
    const workflow = accepted(await startPlanSync(this.dependencies, occasionOf(request), id));
    return { plan_id: id, ...startedWorkflowToDto(workflow, 'the sync has begun') };
  }
}
