import { Body, Extension, Get, Path, Post, Query, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  workflowToDto,
  type WorkflowDto,
  type WorkflowListDto,
} from '../../declarations/platform/workflow.resource.js';
import { pageToDto } from '../../records/search-records.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readWorkflow, searchWorkflows, type SearchWorkflowsBody } from './workflow-operations.js';

@Route('v1/workflows')
@Tags('Workflows')
export class WorkflowsController extends ApiController<ReadDependencies> {
  /** @summary Search workflows */
  @Post('search')
  @Extension('x-operation', { entity: 'workflow', access: 'read' })
  public async searchWorkflows(@Body() body: SearchWorkflowsBody): Promise<WorkflowListDto> {
    return pageToDto(await this.run(searchWorkflows, body), workflowToDto);
  }

  /**
   * Poll it until its status is not Running any more.
   * @param run_id The only run when absent.
   * @summary Read a workflow
   */
  @Get('{workflow_id}')
  @Extension('x-operation', { entity: 'workflow', access: 'read' })
  public async readWorkflow(
    @Path('workflow_id') id: string,
    @Query('run_id') runId?: string,
  ): Promise<WorkflowDto> {
    return workflowToDto(await this.run(readWorkflow, { id, runId }));
  }
}
