import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Query,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  workflowToDto,
  type WorkflowDto,
  type WorkflowListDto,
} from '../../declarations/platform/workflow.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { pageToDto } from '../../records/search-records.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readWorkflow, searchWorkflows, type SearchWorkflowsBody } from './workflow-operations.js';

@Route('v1/workflows')
@Tags('Workflows')
export class WorkflowsController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /** @summary Search workflows */
  @Post('search')
  @Extension('x-operation', { entity: 'workflow', access: 'read' })
  public async searchWorkflows(
    @Request() request: HttpRequest,
    @Body() body: SearchWorkflowsBody,
  ): Promise<WorkflowListDto> {
    const page = accepted(await searchWorkflows(this.dependencies, occasionOf(request), body));
    return pageToDto(page, workflowToDto);
  }

  /**
   * Poll it until its status is not Running any more.
   * @param run_id The only run when absent.
   * @summary Read a workflow
   */
  @Get('{workflow_id}')
  @Extension('x-operation', { entity: 'workflow', access: 'read' })
  public async readWorkflow(
    @Request() request: HttpRequest,
    @Path('workflow_id') id: string,
    @Query('run_id') runId?: string,
  ): Promise<WorkflowDto> {
    const asked = { id, runId };
    return workflowToDto(
      accepted(await readWorkflow(this.dependencies, occasionOf(request), asked)),
    );
  }
}
