import {
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { pageToDto } from '../../records/search-records.js';
import type { WriteDependencies } from '../../records/unit.js';
import { jobToDto, type JobDto, type JobListDto, type JobsQuery } from './job-item.js';
import { readJobs } from './read-jobs.js';
import { retryJob } from './retry-job.js';

@Route('v1/jobs')
@Tags('Jobs')
export class JobsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * What the environment has to do beside its requests, oldest first: what waits, what is running,
   * and what failed too often, with the reason. For a super_admin.
   * @summary List jobs
   */
  @Get()
  @Extension('x-operation', { entity: 'job', access: 'read' })
  public async listJobs(
    @Request() request: HttpRequest,
    @Queries() query: JobsQuery,
  ): Promise<JobListDto> {
    return pageToDto(await readJobs(this.dependencies, occasionOf(request), query), jobToDto);
  }

  /**
   * Runs a parked job again: it is due at once, and is tried as often as a new one. Mend the cause
   * of its failure first. For a super_admin.
   * @summary Run a parked job again
   */
  @Post('{id}/retry')
  @Extension('x-operation', { entity: 'job', access: 'write' })
  @SuccessResponse(200, 'The job, which waits again')
  public async retryJob(@Request() request: HttpRequest, @Path() id: string): Promise<JobDto> {
    return jobToDto(accepted(await retryJob(this.dependencies, occasionOf(request), id)));
  }
}
